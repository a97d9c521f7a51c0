/** A range of bytes of a file, from the byte `start` to the byte before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the header `Range` of a download. Returns `undefined` if the whole file is sent, because the header is missing,
 * has several ranges or is no range of bytes. Returns `"none"` if the range contains no byte of the file.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ByteRange | "none" | undefined {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return undefined;
  return start < size ? { start, end } : "none";
}

/** `end` is the index after the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A malformed range gets the whole file. `"none"` is a range behind the end of the file. */
export function readRange(header: string | undefined, size: number): ByteRange | "whole" | "none" {
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return "whole";
  return start < size ? { start, end } : "none";
}

import { enclosed, type JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Frame } from "../../pipeline/request/frame.ts";

/**
 * The value of `Content-Type` for JSON. Express would set the same value in `res.send()`, which the framework does not
 * use.
 */
export const JSON_TYPE = "application/json; charset=utf-8";

/** The format of a list as a JSON array, if the request asks for no other format, such as CSV. */
export const JSON_ARRAY: Frame = {
  type: JSON_TYPE,
  open: "[",
  separator: ",",
  close: "]",
  empty: "[]",
};

/**
 * Returns the text of a list whose entities have all been read. The text is returned in chunks, because joining the
 * chunks of a long list would double its memory.
 */
export async function framed(
  texts: readonly JsonPiece[],
  { open, close, empty, rows }: Frame,
): Promise<Uint8Array[]> {
  const pieces: JsonPiece[] = [];
  for await (const piece of rows?.(texts) ?? texts) pieces.push(piece);
  if (pieces.every(({ length }) => length === 0)) return [enclosed(empty, {})];
  const last = pieces.length - 1;
  return pieces.map((piece, index) =>
    index > 0 && index < last && typeof piece !== "string"
      ? piece
      : enclosed(piece, { open: index === 0 ? open : "", close: index === last ? close : "" })
  );
}

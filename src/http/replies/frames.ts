import { enclosed, type JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Frame } from "../../pipeline/request/frame.ts";

/** The value that `res.send()` of Express sets. */
export const JSON_TYPE = "application/json; charset=utf-8";

export const JSON_ARRAY: Frame = {
  type: JSON_TYPE,
  open: "[",
  separator: ",",
  close: "]",
  empty: "[]",
};

/** Joining the chunks of a long list would double its memory. */
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

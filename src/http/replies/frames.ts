import { enclosed, type JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Frame } from "../../pipeline/request/frame.ts";

/**
 * The value of `Content-Type` that Express sets for `type("json")`. Answers are sent without `res.send()`, so the
 * framework sets this header.
 */
export const JSON_TYPE = "application/json; charset=utf-8";

/** The form of a list for which no feature sets another form. */
export const JSON_ARRAY: Frame = {
  type: JSON_TYPE,
  open: "[",
  separator: ",",
  close: "]",
  empty: "[]",
};

/**
 * Builds the text of a list whose entities have all been read. Returns the text in pieces, because joining the pieces
 * of a long list would double its memory.
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

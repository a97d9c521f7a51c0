import { Buffer } from "node:buffer";

/** JSON text, or its bytes. */
export type JsonPiece = string | Uint8Array;

const COMMA = Buffer.from(",");

/** Joins the JSON texts of entities, with commas between them, into as much memory as they need. */
export function joinJson(pieces: readonly JsonPiece[]): Buffer {
  if (pieces.every((piece) => typeof piece === "string")) return Buffer.from(pieces.join(","));
  const parts = pieces.flatMap((
    piece,
  ) => [COMMA, typeof piece === "string" ? Buffer.from(piece) : piece]);
  return Buffer.concat(parts.slice(1));
}

import { enclosed } from "../../json/bytes/json_writer.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";

/** What Express makes of `type("json")`. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** What stands around the entities of a list. */
export interface Frame {
  readonly open: string;
  readonly close: string;
}

export const ARRAY: Frame = { open: "[", close: "]" };

/** Frames a list that is complete. */
export function framed(pieces: readonly JsonPiece[], { open, close }: Frame): Uint8Array[] {
  const last = pieces.length - 1;
  return pieces.map((piece, index) =>
    index > 0 && index < last && typeof piece !== "string"
      ? piece
      : enclosed(piece, { open: index === 0 ? open : "", close: index === last ? close : "" })
  );
}

import { MEDIA_TYPES } from "../../filter/parameters/read_rules.ts";
import { enclosed } from "../../json/bytes/json_writer.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { csvHeader, csvRows } from "./csv.ts";

/** The header that Express makes of `type("json")`. */
export const JSON_TYPE = "application/json; charset=utf-8";

type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

/** How the entities of a list are sent. */
export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly close: string;
  /** The text for no entities. */
  readonly empty: string;
  /** Turns the texts of entities into something else. */
  readonly rows?: (texts: Texts) => AsyncIterable<JsonPiece>;
}

const ARRAY: Frame = { type: JSON_TYPE, open: "[", close: "]", empty: "[]" };

const LINES: Frame = { type: MEDIA_TYPES.ndjson, open: "", close: "\n", empty: "" };

/** Gives the frame of a reply with a list. */
export function frameOf({ format, columns = [] }: Reply): Frame {
  if (format !== "csv") return format === undefined ? ARRAY : LINES;
  const header = csvHeader(columns);
  return {
    type: `${MEDIA_TYPES.csv}; charset=utf-8; header=present`,
    ...{ open: header, close: "", empty: header },
    rows: (texts) => csvRows(texts, columns),
  };
}

/** Frames a list that is complete. */
export async function framed(
  texts: readonly JsonPiece[],
  { open, close, empty, rows }: Frame,
): Promise<Uint8Array[]> {
  const pieces = rows === undefined ? texts : await Array.fromAsync(rows(texts));
  if (pieces.every(({ length }) => length === 0)) return [enclosed(empty, {})];
  const last = pieces.length - 1;
  return pieces.map((piece, index) =>
    index > 0 && index < last && typeof piece !== "string"
      ? piece
      : enclosed(piece, { open: index === 0 ? open : "", close: index === last ? close : "" })
  );
}

import { nextTurn } from "../../errors/event_loop.ts";
import { MEDIA_TYPES } from "../../filter/parameters/read_rules.ts";
import { enclosed, type JsonPiece, PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import type { Column } from "../../pipeline/lists/columns.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

/** The header `Content-Type` that Express sets for `type("json")`. */
export const JSON_TYPE = "application/json; charset=utf-8";

type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

/** The format of a list, and the text around its entities. */
export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly close: string;
  /** The whole text of a list without entities. */
  readonly empty: string;
  /** Converts the JSON texts of entities into the rows of a table. */
  readonly rows?: (texts: Texts) => AsyncIterable<JsonPiece>;
}

const ARRAY: Frame = { type: JSON_TYPE, open: "[", close: "]", empty: "[]" };

const LINES: Frame = { type: MEDIA_TYPES.ndjson, open: "", close: "\n", empty: "" };

export function frameOf({ format, columns = [] }: Reply): Frame {
  if (format !== "csv") return format === undefined ? ARRAY : LINES;
  const header = rowOf(columns.map(({ names }) => cellOf(names.join("."), false)));
  return {
    type: `${MEDIA_TYPES.csv}; charset=utf-8; header=present`,
    open: header,
    close: "",
    empty: header,
    rows: (texts) => csvRows(texts, columns),
  };
}

/** Builds the text of a complete list, in pieces. */
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

/**
 * Converts the JSON texts of entities, one on each line, into the rows of a table (RFC 4180). Yields the rows when they
 * have `PIECE_BYTES` characters or the texts end.
 */
async function* csvRows(texts: Texts, columns: readonly Column[]): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = "";
  let rows = "";
  for await (const text of texts) {
    const decoded = typeof text === "string" ? text : decoder.decode(text, { stream: true });
    const lines = `${begun}${decoded}`.split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) {
      rows += csvRow(line, columns);
      if (rows.length < PIECE_BYTES) continue;
      yield rows;
      rows = "";
      await nextTurn();
    }
  }
  if (begun !== "") rows += csvRow(begun, columns);
  if (rows !== "") yield rows;
}

function csvRow(line: string, columns: readonly Column[]): string {
  const entity: unknown = JSON.parse(line);
  return rowOf(columns.map(({ names, isNumeric }) => {
    let value = entity;
    for (const name of names) {
      value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    return cellOf(value, isNumeric);
  }));
}

function rowOf(cells: readonly string[]): string {
  // Readers of CSV skip an empty line, so a row with one empty cell has quotes.
  return `${cells.join() || '""'}\r\n`;
}

/**
 * Matches a text that a spreadsheet would run as a formula. Also matches a text that begins with `'`, because a
 * spreadsheet would remove this `'`.
 */
const FORMULA = /^[=+\-@\t\r']/;

const NUMBER = /^-?\d+(\.\d+)?(E[+-]?\d+)?$/;

/**
 * Returns the cell for a value. A text that matches `FORMULA` begins with `'`. An empty text has quotes, so that it
 * differs from a missing value.
 */
function cellOf(value: unknown, isNumeric: boolean): string {
  if (value === undefined || value === null) return "";
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value === "string" && FORMULA.test(text) && !(isNumeric && NUMBER.test(text))) {
    text = `'${text}`;
  }
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

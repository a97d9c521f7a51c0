import { nextTurn } from "../../errors/event_loop.ts";
import { MEDIA_TYPES } from "../../filter/parameters/read_rules.ts";
import { enclosed, type JsonPiece, PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import type { Column } from "../../pipeline/lists/columns.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

/**
 * The value of `Content-Type` that Express sets for `type("json")`. Answers are sent without `res.send()`, so the
 * framework sets this header.
 */
export const JSON_TYPE = "application/json; charset=utf-8";

type Texts = AsyncIterable<JsonPiece> | Iterable<JsonPiece>;

/**
 * The media type of a list in an answer, and the texts that begin and end the list. JSON, NDJSON and CSV each have a
 * frame.
 */
export interface Frame {
  readonly type: string;
  readonly open: string;
  readonly close: string;
  /** The whole text of a list without entities. A CSV list without entities still has its header row. */
  readonly empty: string;
  /** Converts the JSON texts of entities into the rows of a table. Only CSV has this function. */
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

/**
 * Converts the JSON texts of entities, one on each line, into the rows of a table (RFC 4180). Yields rows in pieces of
 * about `PIECE_BYTES` characters. Between two pieces, other requests get a turn of the event loop.
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
 * Matches a text that a spreadsheet would run as a formula, so that `cellOf()` writes `'` before the text. Also matches
 * a text that begins with `'`, because a spreadsheet would remove this `'`.
 */
const FORMULA = /^[=+\-@\t\r']/;

const NUMBER = /^-?\d+(\.\d+)?(E[+-]?\d+)?$/;

/**
 * Returns the CSV cell for a value of an entity. A text that matches `FORMULA` begins with `'`, so that no spreadsheet
 * runs the text. An empty text has quotes, so that it differs from a missing value.
 */
function cellOf(value: unknown, isNumeric: boolean): string {
  if (value === undefined || value === null) return "";
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value === "string" && FORMULA.test(text) && !(isNumeric && NUMBER.test(text))) {
    text = `'${text}`;
  }
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

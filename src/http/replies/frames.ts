import { nextTurn } from "../../errors/event_loop.ts";
import { MEDIA_TYPES } from "../../filter/parameters/read_rules.ts";
import { enclosed, type JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Column } from "../../pipeline/lists/columns.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { PIECE } from "./connection.ts";

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

export function frameOf({ format, columns = [] }: Reply): Frame {
  if (format !== "csv") return format === undefined ? ARRAY : LINES;
  const header = rowOf(columns.map(({ names }) => cellOf(names.join("."), false)));
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

/** Turns the JSON texts of entities, one on each line, into the rows of a table (RFC 4180), piece by piece. */
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
      if (rows.length < PIECE) continue;
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
  // An empty line would be no row
  return `${cells.join() || '""'}\r\n`;
}

/** Begins of a text that a spreadsheet takes for a formula; and the mark that prevents it, which must not get lost. */
const FORMULA = /^[=+\-@\t\r']/;

const NUMBER = /^-?\d+(\.\d+)?(E[+-]?\d+)?$/;

/** Writes a value as a cell. An empty text has quotes, unlike what is missing. */
function cellOf(value: unknown, isNumeric: boolean): string {
  if (value === undefined || value === null) return "";
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value === "string" && FORMULA.test(text) && !(isNumeric && NUMBER.test(text))) {
    text = `'${text}`;
  }
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

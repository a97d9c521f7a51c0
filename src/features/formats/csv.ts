import { nextTurn } from "../../errors/event_loop.ts";
import { markFormula } from "../../json/formula_marks.ts";
import { PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import type { Frame, Texts } from "../../pipeline/request/frame.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Column } from "./columns.ts";

/** Returns the format of a list as a CSV table (RFC 4180). A list without entities still has its header row. */
export function csvFrame(columns: readonly Column[]): Frame {
  const header = rowOf(columns.map(({ names }) => cellOf(names.join("."), false)));
  return {
    type: `${MEDIA_TYPES.csv}; charset=utf-8; header=present`,
    open: header,
    separator: "\n",
    close: "",
    empty: header,
    rows: (texts) => csvRows(texts, columns),
  };
}

/**
 * Converts the JSON texts of entities, one on each line, into the rows of a CSV table. Yields the rows in texts of
 * about `PIECE_BYTES` characters. Other requests get a turn of the event loop between two texts, so that a long table
 * does not block the process.
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
  // Programs that read CSV skip an empty line, so a row that consists of one empty cell is written with quotes.
  return `${cells.join() || '""'}\r\n`;
}

const NUMBER = /^-?\d+(\.\d+)?(E[+-]?\d+)?$/;

/**
 * Returns the CSV cell for a value of an entity. A text that a spreadsheet would run as a formula is marked. An empty
 * text has quotes, so that it differs from a missing value.
 */
function cellOf(value: unknown, isNumeric: boolean): string {
  if (value === undefined || value === null) return "";
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value === "string" && !(isNumeric && NUMBER.test(text))) text = markFormula(text);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

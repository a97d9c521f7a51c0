import { Buffer } from "node:buffer";
import { nextTurn } from "../../errors/event_loop.ts";
import { markFormula } from "../../json/formula_marks.ts";
import { type JsonPiece, PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import type { Frame, Texts } from "../../pipeline/request/frame.ts";
import { MEDIA_TYPES } from "../../pipeline/request/media_types.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Column } from "./columns.ts";

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

const LINE_BREAK = 0x0a;

/** Makes rows one by one, or else a slow client would fill the memory. Other requests run between two pieces. */
async function* csvRows(texts: Texts, columns: readonly Column[]): AsyncGenerator<string> {
  let begun = Buffer.alloc(0);
  let rows = "";
  for await (const text of texts) {
    const bytes = bufferOf(text);
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end !== -1; end = bytes.indexOf(LINE_BREAK, start)) {
      const part = bytes.subarray(start, end);
      rows += csvRow(begun.length === 0 ? part : Buffer.concat([begun, part]), columns);
      begun = begun.subarray(begun.length);
      start = end + 1;
      if (rows.length < PIECE_BYTES) continue;
      yield rows;
      rows = "";
      await nextTurn();
    }
    begun = Buffer.concat([begun, bytes.subarray(start)]);
  }
  if (begun.length > 0) rows += csvRow(begun, columns);
  if (rows !== "") yield rows;
}

function bufferOf(text: JsonPiece): Buffer {
  return typeof text === "string"
    ? Buffer.from(text)
    : Buffer.from(text.buffer, text.byteOffset, text.length);
}

function csvRow(line: Buffer, columns: readonly Column[]): string {
  const entity: unknown = JSON.parse(line.toString());
  return rowOf(columns.map(({ names, isNumeric }) => {
    let value = entity;
    for (const name of names) {
      value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    return cellOf(value, isNumeric);
  }));
}

function rowOf(cells: readonly string[]): string {
  // Programs that read CSV skip an empty line.
  return `${cells.join() || '""'}\r\n`;
}

const NUMBER = /^-?\d+(\.\d+)?(E[+-]?\d+)?$/;

/** Marks text that a spreadsheet would run as a formula. Quotes distinguish empty text from a missing value. */
function cellOf(value: unknown, isNumeric: boolean): string {
  if (value === undefined || value === null) return "";
  let text = typeof value === "string" ? value : JSON.stringify(value);
  if (typeof value === "string" && !(isNumeric && NUMBER.test(text))) text = markFormula(text);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

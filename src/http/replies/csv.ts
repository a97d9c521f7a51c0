import { Buffer } from "node:buffer";
import { nextTurn } from "../../database/read_batches.ts";
import { JsonWriter } from "../../json/bytes/json_writer.ts";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Column } from "../../pipeline/lists/columns.ts";

/** How many bytes of a table are written in one turn of the event loop. */
const PORTION = 64 * 1024;

const LINE_END = "\r\n";

/** Writes the first line of a table. */
export function csvHeader(columns: readonly Column[]): string {
  const cells = columns.map(({ names }) => cellOf(names.join("."), { isNumeric: false }));
  return `${cells.join()}${LINE_END}`;
}

/** Turns the JSON texts of entities, one on each line, into the rows of a table (RFC 4180). */
export async function* csvRows(
  texts: AsyncIterable<JsonPiece> | Iterable<JsonPiece>,
  columns: readonly Column[],
): AsyncGenerator<Buffer> {
  const rows = new RowWriter(columns);
  let rest: Uint8Array = new Uint8Array();
  for await (const text of texts) {
    const bytes = joined(rest, text);
    const whole = bytes.lastIndexOf(LINE_BREAK) + 1;
    for (let start = 0; start < whole;) {
      // Behind the line break
      start = rows.write(bytes, start) + 1;
      if (rows.size < PORTION) continue;
      yield rows.take();
      await nextTurn();
    }
    rest = bytes.subarray(whole);
  }
  if (rest.length > 0) rows.write(rest, 0);
  if (rows.size > 0) yield rows.take();
}

/** Gives bytes of no subclass: those find a byte many times faster than a `Buffer`. */
function joined(rest: Uint8Array, text: JsonPiece): Uint8Array {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
  return new Uint8Array(all.buffer, all.byteOffset, all.byteLength);
}

const LINE_BREAK = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const NULL = 0x6e;

/** A field of an object, and the cell for its value or the fields in it. */
interface Place {
  readonly name: string;
  /** The name in JSON text, with the quote that ends it. */
  readonly key: Uint8Array;
  readonly cell: number;
  readonly inner: Place[];
}

/** How a value goes into its cell. */
const EMPTY = 0;
const WHOLE = 1;
/** Without its quotes. */
const INSIDE = 2;
const PARSED = 3;

/** Copies values out of JSON text: to parse it would cost more than to write the list as JSON. */
class RowWriter {
  readonly #columns: readonly Column[];
  readonly #places: Place[] = [];
  /** Where the value of each cell begins and ends, and how it goes into the cell. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #forms: Uint8Array;
  #out = new JsonWriter(2 * PORTION);
  #bytes: Uint8Array = new Uint8Array();

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.#starts = new Int32Array(columns.length);
    this.#ends = new Int32Array(columns.length);
    this.#forms = new Uint8Array(columns.length);
    for (const [cell, { names }] of columns.entries()) {
      let places = this.#places;
      for (const name of names) {
        let place = places.find((each) => each.name === name);
        if (place === undefined) {
          place = { name, key: Buffer.from(JSON.stringify(name).slice(1)), cell, inner: [] };
          places.push(place);
        }
        places = place.inner;
      }
    }
  }

  get size(): number {
    return this.#out.length;
  }

  take(): Buffer {
    const { written } = this.#out;
    this.#out = new JsonWriter(2 * PORTION);
    return written;
  }

  /** Writes the row of the entity whose text begins at a place. One that is no object has empty cells. */
  write(bytes: Uint8Array, start: number): number {
    const out = this.#out;
    const { length } = this.#columns;
    this.#bytes = bytes;
    this.#forms.fill(EMPTY);
    const end = bytes[start] === OPEN
      ? this.#object(this.#places, start)
      : behindValue(bytes, start);
    for (let cell = 0; cell < length; cell++) {
      if (cell > 0) {
        out.reserve(1);
        out.byte(COMMA);
      }
      this.#cell(cell);
    }
    out.ascii(LINE_END);
    return end;
  }

  #cell(cell: number): void {
    const out = this.#out;
    const start = this.#starts[cell] as number;
    const end = this.#ends[cell] as number;
    switch (this.#forms[cell]) {
      case WHOLE:
        return this.#copy(start, end);
      case INSIDE:
        return this.#copy(start + 1, end - 1);
      case PARSED: {
        const json = Buffer.from(this.#bytes.subarray(start, end)).toString();
        const text = this.#bytes[start] === QUOTE ? JSON.parse(json) as string : json;
        return out.text(cellOf(text, this.#columns[cell] as Column));
      }
      default:
        // An empty line would be no row
        if (this.#columns.length === 1) out.ascii('""');
    }
  }

  #copy(start: number, end: number): void {
    const out = this.#out;
    out.reserve(end - start);
    const from = this.#bytes;
    const { bytes } = out;
    let to = out.length;
    for (let at = start; at < end; at++) bytes[to++] = from[at] as number;
    out.length = to;
  }

  /** Notes where the values of an object stand; returns what is behind it. */
  #object(places: readonly Place[], start: number): number {
    const bytes = this.#bytes;
    let at = start + 1;
    let next = 0;
    while (at < bytes.length && bytes[at] !== CLOSE) {
      if (bytes[at] === COMMA) at++;
      // Entities have their fields in about the same order
      let left = places.length;
      while (left > 0 && !this.#isNamed(places[next], at + 1)) {
        next = next + 1 < places.length ? next + 1 : 0;
        left--;
      }
      const place = left > 0 ? places[next++] : undefined;
      if (next === places.length) next = 0;
      at = place === undefined
        ? behindValue(bytes, behindText(bytes, at) + 1)
        // Behind the quotes and the colon
        : this.#value(place, at + place.key.length + 2);
    }
    return at + 1;
  }

  #isNamed(place: Place | undefined, at: number): boolean {
    if (place === undefined) return false;
    const { key } = place;
    const bytes = this.#bytes;
    for (let index = 0; index < key.length; index++) {
      if (bytes[at + index] !== key[index]) return false;
    }
    return true;
  }

  #value({ cell, inner }: Place, at: number): number {
    const bytes = this.#bytes;
    if (inner.length > 0) {
      return bytes[at] === OPEN ? this.#object(inner, at) : behindValue(bytes, at);
    }
    const end = behindValue(bytes, at);
    this.#starts[cell] = at;
    this.#ends[cell] = end;
    this.#forms[cell] = formOf(bytes, at);
    return end;
  }
}

/** Tells how the value that was passed last goes into its cell. */
function formOf(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first === NULL) return EMPTY;
  if (first === OPEN || first === OPEN_LIST) return PARSED;
  if (first !== QUOTE) return WHOLE;
  if (hasEscapes || BEGINS_FORMULA[bytes[at + 1] as number] === 1) return PARSED;
  return hasCommas || bytes[at + 1] === QUOTE ? WHOLE : INSIDE;
}

/** Returns what is behind a value. */
function behindValue(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let depth = 0;;) {
    const byte = bytes[at];
    if (byte === QUOTE) at = behindText(bytes, at);
    else if (byte === OPEN || byte === OPEN_LIST) {
      depth++;
      at++;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      // The end of the object around it
      if (depth === 0) return at;
      depth--;
      at++;
    } else if (byte === undefined || byte === COMMA && depth === 0) return at;
    else {
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
}

let hasEscapes = false;
let hasCommas = false;

/** 1 for the bytes of a JSON text that end it, or that a cell cannot hold without quotes. */
const SPECIAL = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte === QUOTE || byte === BACKSLASH || byte === COMMA ? 1 : 0,
);

/** Returns what is behind a text. */
function behindText(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  hasEscapes = false;
  hasCommas = false;
  for (let at = start + 1; at < length; at++) {
    const byte = bytes[at] as number;
    if (SPECIAL[byte] === 0) continue;
    if (byte === QUOTE) return at + 1;
    if (byte === COMMA) hasCommas = true;
    else {
      hasEscapes = true;
      at++;
    }
  }
  return length;
}

/** Begins of a text that a spreadsheet takes for a formula; and the mark that prevents it, which must not get lost. */
const FORMULA = /^[=+\-@\t\r']/;

/** 1 for the bytes of the same. */
const BEGINS_FORMULA = Uint8Array.from(
  { length: 256 },
  (_, byte) => FORMULA.test(String.fromCharCode(byte)) ? 1 : 0,
);

const NUMBER = /^-?\d+(\.\d+)?(E[+-]?\d+)?$/;

/** Writes a text as a cell. An empty one has quotes, unlike what is missing. */
function cellOf(text: string, { isNumeric }: Pick<Column, "isNumeric">): string {
  const isFormula = FORMULA.test(text) && !(isNumeric && NUMBER.test(text));
  const safe = isFormula ? `'${text}` : text;
  return safe === "" || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

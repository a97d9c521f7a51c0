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
    let start = 0;
    for (let end = bytes.indexOf(NEW_LINE); end !== -1; end = bytes.indexOf(NEW_LINE, start)) {
      rows.write(bytes, start);
      start = end + 1;
      if (rows.size < PORTION) continue;
      yield rows.take();
      await nextTurn();
    }
    rest = bytes.subarray(start);
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

const NEW_LINE = 0x0a;
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
const COPIED = 1;
const WHOLE = 2;
const READ = 3;

/** Copies values out of JSON text: to parse it would cost more than to write the list as JSON. */
class RowWriter {
  readonly #columns: readonly Column[];
  readonly #places: Place[] = [];
  /** Where the value of each cell begins and ends, and how it goes into the cell. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #forms: Uint8Array;
  #out = new JsonWriter(2 * PORTION);

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
  write(bytes: Uint8Array, start: number): void {
    const out = this.#out;
    const { length } = this.#columns;
    this.#forms.fill(EMPTY);
    if (bytes[start] === OPEN) this.#object(bytes, { at: start, places: this.#places });
    for (let cell = 0; cell < length; cell++) {
      if (cell > 0) {
        out.reserve(1);
        out.byte(COMMA);
      }
      const form = this.#forms[cell];
      const from = this.#starts[cell] as number;
      const end = this.#ends[cell] as number;
      if (form === COPIED) copyInto(out, { bytes, start: from + 1, end: end - 1 });
      else if (form === WHOLE) copyInto(out, { bytes, start: from, end });
      else if (form === READ) {
        const json = Buffer.from(bytes.subarray(from, end)).toString();
        const text = bytes[from] === QUOTE ? JSON.parse(json) as string : json;
        out.text(cellOf(text, this.#columns[cell] as Column));
      } else if (length === 1) {
        // An empty line would be no row
        out.ascii('""');
      }
    }
    out.ascii(LINE_END);
  }

  /** Notes where the values of an object stand; returns what is behind it. */
  #object(
    bytes: Uint8Array,
    { at: start, places }: { readonly at: number; readonly places: readonly Place[] },
  ): number {
    let at = start + 1;
    let next = 0;
    while (bytes[at] !== CLOSE) {
      if (bytes[at] === COMMA) at++;
      const found = find(places, { bytes, at: at + 1, next });
      const place = places[found];
      if (place === undefined) {
        at = behindValue(bytes, behindText(bytes, at) + 1);
        continue;
      }
      next = found + 1;
      // Behind the quote and the colon
      at += place.key.length + 2;
      at = place.inner.length > 0 && bytes[at] === OPEN
        ? this.#object(bytes, { at, places: place.inner })
        : this.#value(bytes, { at, place });
    }
    return at + 1;
  }

  #value(
    bytes: Uint8Array,
    { at, place: { cell, inner } }: { readonly at: number; readonly place: Place },
  ): number {
    const end = behindValue(bytes, at);
    if (inner.length > 0) return end;
    this.#starts[cell] = at;
    this.#ends[cell] = end;
    this.#forms[cell] = formOf(bytes, at);
    return end;
  }
}

/** Tells how the value that was passed last goes into its cell. A text is copied without its quotes. */
function formOf(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first === NULL) return EMPTY;
  if (first === OPEN || first === OPEN_LIST) return READ;
  if (first !== QUOTE) return WHOLE;
  if (hasEscapes || BEGINS_FORMULA[bytes[at + 1] as number] === 1) return READ;
  return hasCommas || bytes[at + 1] === QUOTE ? WHOLE : COPIED;
}

function copyInto(
  out: JsonWriter,
  { bytes, start, end }: {
    readonly bytes: Uint8Array;
    readonly start: number;
    readonly end: number;
  },
): void {
  out.reserve(end - start);
  const target = out.bytes;
  let to = out.length;
  for (let at = start; at < end; at++) target[to++] = bytes[at] as number;
  out.length = to;
}

/** Finds the place of the key that begins here: entities have their fields in about the same order. */
function find(
  places: readonly Place[],
  { bytes, at, next }: { readonly bytes: Uint8Array; readonly at: number; readonly next: number },
): number {
  for (let step = 0; step < places.length; step++) {
    const index = next + step < places.length ? next + step : next + step - places.length;
    const { key } = places[index] as Place;
    let same = 0;
    while (same < key.length && bytes[at + same] === key[same]) same++;
    if (same === key.length) return index;
  }
  return -1;
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

/** What is in the text that was passed last. */
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

/** What makes a spreadsheet take a text for a formula; and the mark that takes that away, which must not get lost. */
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

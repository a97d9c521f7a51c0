import { badFormat } from "../../errors/refusals.ts";
import { BegunLine } from "./begun_line.ts";

export interface CsvRow {
  /** The row's first line, from 1. */
  readonly line: number;
  readonly bytes: Uint8Array;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_BREAK = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** `closed` is after a quote, which ends a `quoted` cell unless another quote follows. */
type Position = "start" | "plain" | "quoted" | "closed";

/** A table of RFC 4180: a cell with quotes may contain line breaks. */
export class RowSplitter {
  readonly #begun = new BegunLine();
  #chunk: Uint8Array = new Uint8Array();
  #at = 0;
  #position: Position = "start";
  #isAtEnd = false;
  line = 1;

  /** Take all rows of the previous chunk first, or they are lost. `null` ends the table. */
  add(chunk: Uint8Array | null): void {
    this.#isAtEnd = chunk === null;
    this.#chunk = chunk ?? new Uint8Array();
    this.#at = 0;
  }

  take(): CsvRow | undefined {
    const chunk = this.#chunk;
    let start = this.#at;
    while (this.#at < chunk.length) {
      if (this.#position === "quoted") {
        const end = chunk.indexOf(QUOTE, this.#at);
        this.#at = end === -1 ? chunk.length : end + 1;
        if (end !== -1) this.#position = "closed";
      } else if (this.#step(chunk[this.#at++] as number)) {
        const part = chunk.subarray(start, this.#at - 1);
        if (!this.#begun.isEmpty || !isBlank(part)) return this.#end(part);
        this.line++;
        this.#position = "start";
        start = this.#at;
      }
    }
    this.#begun.add(chunk.subarray(start));
    return this.#isAtEnd && !this.#begun.isEmpty ? this.#end(new Uint8Array()) : undefined;
  }

  #step(byte: number): boolean {
    if (byte === LINE_BREAK) return true;
    if (byte === COMMA) this.#position = "start";
    else if (byte === QUOTE && this.#position !== "plain") this.#position = "quoted";
    else this.#position = "plain";
    return false;
  }

  #end(part: Uint8Array): CsvRow {
    const bytes = this.#begun.end(part);
    const { line } = this;
    this.line += 1 + count(bytes, LINE_BREAK);
    this.#position = "start";
    return { line, bytes };
  }
}

/** Millions of blank rows fit into a few compressed bytes, so they never become objects. */
function isBlank(row: Uint8Array): boolean {
  return row.length === 0 || row.length === 1 && row[0] === CARRIAGE_RETURN;
}

function count(bytes: Uint8Array, byte: number): number {
  let found = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) found++;
  return found;
}

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function textOf({ bytes }: CsvRow): string {
  let text: string;
  try {
    text = DECODER.decode(bytes);
  } catch {
    throw badFormat("The row is not UTF-8: save the table in this encoding");
  }
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

export interface Cell {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** Reading ends soon after `most` cells, because a row may have millions of commas. */
export function cellsOf(row: string, most = Infinity): readonly Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; cells.length <= most; at++) {
    const isQuoted = row[at] === '"';
    const { text, end } = isQuoted ? quotedCell(row, at + 1) : plainCell(row, at);
    cells.push({ text, isQuoted });
    if (end === row.length) return cells;
    if (row[end] !== ",") throw badFormat("The row has a text after a closing quote");
    at = end;
  }
  return cells;
}

interface FoundCell {
  readonly text: string;
  readonly end: number;
}

function quotedCell(row: string, start: number): FoundCell {
  let text = "";
  for (let from = start;;) {
    const quote = row.indexOf('"', from);
    if (quote === -1) throw badFormat("The row has a quote that is not closed");
    text += row.slice(from, quote);
    if (row[quote + 1] !== '"') return { text, end: quote + 1 };
    text += '"';
    from = quote + 2;
  }
}

function plainCell(row: string, start: number): FoundCell {
  const comma = row.indexOf(",", start);
  const end = comma === -1 ? row.length : comma;
  const text = row.slice(start, end);
  if (/["\r\n]/.test(text)) {
    throw badFormat("The row has a quote or a line break in a cell without quotes");
  }
  return { text, end };
}

import { isUtf8 } from "node:buffer";
import { badFormat } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { checkSize, type Count, MAX_DEPTH, tooDeep } from "../../write/body/read_body.ts";
import { BegunLine } from "./begun_line.ts";
import type { BodyLine, BodyParser, ParsedLine } from "./body_parser.ts";

export class JsonLines implements BodyParser {
  readonly #limits: Count;
  readonly #splitter = new LineSplitter();

  constructor(limits: Count) {
    this.#limits = limits;
  }

  get next(): number {
    return this.#splitter.line;
  }

  *parse(chunk: Uint8Array | null | undefined): Generator<ParsedLine> {
    for (const { line, text, isValid } of this.#splitter.split(chunk)) {
      const read = isValid
        ? readLine(text, this.#limits)
        : { error: badFormat("The line is not UTF-8") };
      yield { line, size: text.length, ...read };
    }
  }
}

/** `JSON.parse()` cannot be interrupted, so a long line with many values would delay other requests. */
const LONG_LINE = 16 * 1024;

function checkText(text: string, { maxKeys, maxElements }: Count): void {
  const most = maxKeys + maxElements + 1;
  let members = 0;
  let opened = 0;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) members++;
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      opened++;
      if (++depth > MAX_DEPTH + 1) throw tooDeep();
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--;
    if (members > most || opened > most) {
      throw badFormat(`The line goes over the limit of ${most} keys and elements`);
    }
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

function readLine(text: string, limits: Count): Omit<BodyLine, "line"> {
  try {
    if (text.length > LONG_LINE) checkText(text, limits);
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return { error: badFormat("The line is not a JSON object") };
    checkSize(body, limits);
    return { body };
  } catch (error) {
    return { error: error instanceof RestError ? error : badFormat("The line is not JSON") };
  }
}

const LINE_BREAK = 0x0a;

interface SplitLine {
  readonly line: number;
  readonly text: string;
  readonly isValid: boolean;
}

class LineSplitter {
  readonly #begun = new BegunLine();
  line = 1;

  *split(chunk: Uint8Array | null | undefined): Generator<SplitLine> {
    if (chunk === undefined) return;
    const bytes = chunk ?? EMPTY;
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end !== -1; end = bytes.indexOf(LINE_BREAK, start)) {
      if (end === start && this.#begun.isEmpty) this.line++;
      else yield* this.#end(bytes.subarray(start, end));
      start = end + 1;
    }
    if (chunk === null) yield* this.#end(EMPTY);
    else this.#begun.add(bytes.subarray(start));
  }

  /** Millions of blank lines fit into a few compressed bytes, so they never become strings. */
  #end(part: Uint8Array): readonly SplitLine[] {
    if (this.#begun.isEmpty && isWhiteSpace(part)) {
      this.line++;
      return NONE;
    }
    const bytes = this.#begun.end(part);
    const line = this.line++;
    if (isWhiteSpace(bytes)) return NONE;
    const text = bytes.toString();
    const read = line === 1 ? text.replace(/^\ufeff/, "") : text;
    return [{ line, text: read, isValid: isUtf8(bytes) }];
  }
}

const EMPTY = new Uint8Array();
const NONE: readonly SplitLine[] = [];

function isWhiteSpace(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

import { badFormat } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { checkSize, type Count, MAX_DEPTH, tooDeep } from "../../write/body/read_body.ts";
import { BegunLine } from "./begun_line.ts";
import type { BodyLine, BodyParser, ParsedLine } from "./body_parser.ts";

/** The parser of a body with a JSON object on each line (NDJSON). */
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
    for (const { line, text } of this.#splitter.split(chunk)) {
      yield { line, size: text.length, ...readLine(text, this.#limits) };
    }
  }
}

/**
 * The length from which an import counts the values of a line before it parses the line. `JSON.parse()` cannot be
 * interrupted, so a long line with too many values would delay other requests.
 */
const LONG_LINE = 16 * 1024;

/**
 * Throws a 400 if a line of JSON has more keys and elements than allowed, or is nested too deeply. The check only
 * counts characters and stops at the limit, whereas `JSON.parse()` would first read the whole text.
 */
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
}

/**
 * Splits the chunks of a body into lines. A line may continue in the next chunk, so the bytes of a line without its
 * line break are kept.
 */
class LineSplitter {
  readonly #begun = new BegunLine();
  /** The number of the next line in the body, from 1, by which the answer names the line. */
  line = 1;

  /**
   * Yields the lines that end in a chunk and are no white space. `null` stands for the end of the body, at which the
   * last line may have no line break. `undefined` stands for a wait in which no chunk has come, and yields no line.
   */
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

  /**
   * Returns the line that ends in a chunk, or nothing for a line of white space. Lines of white space are skipped
   * before they are converted to text, because millions of them fit into a few compressed bytes.
   */
  #end(part: Uint8Array): readonly SplitLine[] {
    if (this.#begun.isEmpty && isWhiteSpace(part)) {
      this.line++;
      return NONE;
    }
    const bytes = this.#begun.end(part);
    const line = this.line++;
    if (isWhiteSpace(bytes)) return NONE;
    const text = bytes.toString();
    // Some programs write a byte order mark at the beginning of a file, which JSON does not allow.
    return [{ line, text: line === 1 ? text.replace(/^\ufeff/, "") : text }];
  }
}

const EMPTY = new Uint8Array();
const NONE: readonly SplitLine[] = [];

function isWhiteSpace(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

import { Buffer } from "node:buffer";
import type { Request } from "express-types";
import { TurnPacer } from "../../errors/event_loop.ts";
import { badFormat, overloaded, refusal } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import {
  type BodyLimits,
  checkSize,
  type Count,
  MAX_DEPTH,
  tooDeep,
} from "../../write/body/read_body.ts";
import { openBody } from "./import_body.ts";

export interface BodyLine {
  readonly line: number;
  readonly body?: JsonObject;
  readonly error?: RestError;
}

interface LinesOptions extends Required<BodyLimits> {
  /** The maximum number of lines that are stored together. */
  readonly many: number;
  /**
   * The signal that ends the import when the server closes. The last line of the answer then names the first line that
   * was not read, so that the client can continue with that line.
   */
  readonly signal: AbortSignal;
  /** Returns whether the client has disconnected or the response has ended, so that reading the body stops. */
  readonly isOver: () => boolean;
}

/**
 * The maximum number of bytes of one line. A longer line ends the import with a 413, because the whole line has to be
 * in memory.
 */
const MAX_LINE = 1024 * 1024;

/**
 * The total length of the lines at which a batch is stored, although it could have more lines. The MongoDB driver
 * encodes a whole batch in one turn of the event loop, so a larger batch would delay other requests.
 */
const FULL_BATCH = 256 * 1024;

/**
 * The number of lines after which the import checks whether other requests need a turn of the event loop. Most lines
 * are short, so a check after each line is not necessary.
 */
const LINES_AT_ONCE = 32;

/**
 * The time after which a batch is stored although it is not full, in milliseconds, so that a slow client gets results
 * for its first lines soon.
 */
const STORE_AFTER_MS = 1000;

/**
 * Reads a body with a JSON object on each line, and yields the lines in batches. The body is read only while the caller
 * takes batches, so that a fast client cannot fill the memory. If the body cannot be read to its end, the last line of
 * the last batch has an error in the place of an object.
 */
export async function* readLines(
  req: Request,
  { many, signal, isOver, maxImportBytes, ...limits }: LinesOptions,
): AsyncGenerator<readonly BodyLine[]> {
  const body = openBody(req, { signal, maxImportBytes });
  const splitter = new LineSplitter();
  const pacer = new TurnPacer();
  const batch = new LineBatch(limits);
  try {
    for (let isAtEnd = false; !isAtEnd;) {
      const chunk = await body.next(batch.dueAt);
      if (pacer.isDue) await pacer.rest();
      if (isOver()) return;
      isAtEnd = chunk === null;
      if (!isAtEnd && signal.aborted) throw stopped();
      for (const text of splitter.split(chunk)) {
        if (batch.next % LINES_AT_ONCE === 0 && pacer.isDue) {
          await pacer.rest();
          if (isOver()) return;
        }
        if (signal.aborted) throw stopped();
        batch.add(text);
        if (batch.length >= many || batch.size >= FULL_BATCH) yield batch.take();
      }
      if (isAtEnd || performance.now() >= batch.dueAt) yield batch.take();
    }
  } catch (thrown) {
    if (isOver()) return;
    const isKnown = thrown instanceof RestError;
    const error = isKnown ? thrown : badFormat("The rest of the body cannot be read");
    yield [...batch.take(), { line: batch.next, error }];
  } finally {
    body.leave();
  }
}

/** The lines of an import that have been read and are not stored yet. */
class LineBatch {
  readonly #limits: Count;
  #lines: BodyLine[] = [];
  /**
   * The number of the next line of the body. An error that ends the import names this line, so that the client knows
   * where to continue.
   */
  next = 1;
  /** The total length of the lines, including empty lines, which is compared with `FULL_BATCH`. */
  size = 0;
  /** The time at which the batch is stored although it is not full. `Infinity` if the batch is empty. */
  dueAt = Infinity;

  constructor(limits: Count) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#lines.length;
  }

  add(text: string): void {
    this.size += text.length;
    const line = this.next++;
    if (text.trim() === "") return;
    if (this.#lines.length === 0) this.dueAt = performance.now() + STORE_AFTER_MS;
    this.#lines.push({ line, ...readLine(text, this.#limits) });
  }

  take(): readonly BodyLine[] {
    const lines = this.#lines;
    this.#lines = [];
    this.size = 0;
    this.dueAt = Infinity;
    return lines;
  }
}

function stopped(): RestError {
  return overloaded("The server is closing: this line and the lines after it are not stored");
}

/**
 * The length from which the number of values of a line is checked before the line is parsed. `JSON.parse()` cannot be
 * interrupted, so a long line with too many values would delay other requests.
 */
const LONG_LINE = 16 * 1024;

/**
 * Throws a 400 if a JSON text has more keys and elements than allowed, or is nested too deeply. The check only counts
 * characters and stops at the limit, whereas `JSON.parse()` would first read the whole text.
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

/**
 * Splits the chunks of a body into lines. A line may continue in the next chunk, so the bytes of a line without its
 * line break are kept.
 */
class LineSplitter {
  #rest: Uint8Array[] = [];
  #size = 0;

  /**
   * Yields the lines that end in a chunk. `null` stands for the end of the body, at which the last line may have no
   * line break. `undefined` stands for a wait in which no chunk has come, and yields no line.
   */
  *split(chunk: Uint8Array | null | undefined): Generator<string> {
    if (chunk === undefined) return;
    if (chunk === null) {
      if (this.#size > 0) yield this.#join();
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end !== -1; end = chunk.indexOf(LINE_BREAK, start)) {
      if (end > start) this.#add(chunk.subarray(start, end));
      start = end + 1;
      yield this.#size === 0 ? "" : this.#join();
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Uint8Array): void {
    this.#rest.push(part);
    this.#size += part.length;
    if (this.#size <= MAX_LINE) return;
    const message =
      `The line is longer than ${MAX_LINE} bytes: it and those behind it are not read`;
    throw refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_LINE });
  }

  #join(): string {
    const line = Buffer.concat(this.#rest).toString();
    this.#rest = [];
    this.#size = 0;
    return line;
  }
}

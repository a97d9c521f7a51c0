import type { Request } from "express-types";
import { TurnPacer } from "../../errors/event_loop.ts";
import { badFormat } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { overloaded } from "../../pipeline/failures.ts";
import type { BodyLine, BodyParser, ParsedLine } from "./body_parser.ts";
import { type ImportBody, openBody } from "./import_body.ts";

interface LinesOptions {
  readonly maxImportBytes: number;
  /** An error of this function is the answer of the whole import. */
  readonly makeParser: (body: ImportBody) => Promise<BodyParser>;
  readonly many: number;
  /** When the server closes, the answer names the first line that was not read. */
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
}

/** The driver encodes a whole statement in one turn of the event loop, which would delay other requests. */
const FULL_BATCH = 256 * 1024;

/** Most lines are short, so the clock is read only after so many lines. */
const LINES_AT_ONCE = 32;

/** A slow client gets its first results after this time. */
const STORE_AFTER_MS = 1000;

/**
 * Reads only while the caller takes groups of lines, so that a fast client cannot fill the memory. If the body breaks
 * off, the last line has an error.
 */
export async function* readLines(
  req: Request,
  { maxImportBytes, makeParser, ...options }: LinesOptions,
): AsyncGenerator<readonly BodyLine[]> {
  const { signal, isOver } = options;
  const body = openBody(req, { signal, maxImportBytes });
  try {
    const parser = await makeParser(body);
    yield* readBatches(body, { ...options, parser });
  } catch (thrown) {
    if (isOver()) return;
    throw signal.aborted ? stopped() : errorOf(thrown);
  } finally {
    body.leave();
  }
}

interface LineBatchOptions extends Omit<LinesOptions, "maxImportBytes" | "makeParser"> {
  readonly parser: BodyParser;
}

async function* readBatches(
  body: ImportBody,
  { many, signal, isOver, parser }: LineBatchOptions,
): AsyncGenerator<readonly BodyLine[]> {
  const pacer = new TurnPacer();
  const batch = new LineBatch();
  let count = 0;
  try {
    let chunk: Uint8Array | null | undefined;
    while (true) {
      for (const line of parser.parse(chunk)) {
        batch.add(line);
        if (batch.length >= many || batch.size >= FULL_BATCH) yield batch.take();
        if (++count % LINES_AT_ONCE === 0 && pacer.isDue) {
          await pacer.rest();
          if (isOver()) return;
        }
        // All earlier lines are in a batch now, so the error can name `parser.next` as the next line to send.
        if (signal.aborted) throw stopped();
      }
      if (chunk === null || performance.now() >= batch.dueAt) yield batch.take();
      if (chunk === null) return;
      chunk = await body.next(batch.dueAt);
      if (pacer.isDue) await pacer.rest();
      if (isOver()) return;
      if (chunk !== null && signal.aborted) throw stopped();
    }
  } catch (thrown) {
    if (isOver()) return;
    yield [...batch.take(), { line: parser.next, error: errorOf(thrown) }];
  }
}

function errorOf(thrown: unknown): RestError {
  return thrown instanceof RestError ? thrown : badFormat("The rest of the body cannot be read");
}

class LineBatch {
  #lines: BodyLine[] = [];
  size = 0;
  /** By `performance.now()`, or `Infinity` while no line waits. */
  dueAt = Infinity;

  get length(): number {
    return this.#lines.length;
  }

  add({ size, ...line }: ParsedLine): void {
    this.size += size;
    if (line.body === undefined && line.error === undefined) return;
    if (this.#lines.length === 0) this.dueAt = performance.now() + STORE_AFTER_MS;
    this.#lines.push(line);
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

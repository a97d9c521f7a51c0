import { Buffer } from "node:buffer";
import type { Request } from "express-types";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { badFormat, refusal } from "../../errors/refusals.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { readLine } from "./read_body.ts";
import type { ManyLimits } from "./read_body.ts";

export interface BodyLine {
  readonly line: number;
  readonly body?: JsonObject;
  readonly error?: unknown;
}

/** The most bytes of a line, and about as many of a batch. */
const MAX_LINE = 1024 * 1024;

const LINE_BREAK = 0x0a;

/**
 * Reads a body with a JSON object on each line, `many` lines at a time and not before they are asked for. A line that is too
 * long, or a body that breaks off, is the last one.
 */
export async function* readLines(
  req: Request,
  { many, ...limits }: ManyLimits,
): AsyncGenerator<readonly BodyLine[]> {
  const source = openBody(req);
  let line = 0;
  try {
    let batch: BodyLine[] = [];
    let size = 0;
    for await (const text of splitLines(source)) {
      line++;
      if (text === undefined) {
        yield [...batch, { line, error: tooLong() }];
        return;
      }
      if (text.trim() !== "") batch.push(lineOf(text, { line, limits }));
      size += text.length;
      if (batch.length < many && size < MAX_LINE) continue;
      yield batch;
      batch = [];
      size = 0;
    }
    yield batch;
  } catch {
    yield [{ line: line + 1, error: badFormat("The rest of the body cannot be read") }];
  } finally {
    // The client may not take an answer before it has sent all.
    req.unpipe().resume();
  }
}

function lineOf(
  text: string,
  { line, limits }: { readonly line: number; readonly limits: Omit<ManyLimits, "many"> },
): BodyLine {
  try {
    return { line, body: readLine(text, limits) };
  } catch (error) {
    return { line, error };
  }
}

async function* splitLines(source: Readable): AsyncGenerator<string | undefined> {
  let rest: Uint8Array[] = [];
  let size = 0;
  // A stream that is left would end the connection.
  for await (const chunk of source.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Uint8Array;
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end !== -1; end = bytes.indexOf(LINE_BREAK, start)) {
      yield Buffer.concat([...rest, bytes.subarray(start, end)]).toString();
      rest = [];
      size = 0;
      start = end + 1;
    }
    rest.push(bytes.subarray(start));
    size += bytes.length - start;
    if (size > MAX_LINE) return yield undefined;
  }
  if (size > 0) yield Buffer.concat(rest).toString();
}

function openBody(req: Request): Readable {
  if (req.body !== undefined || req.readableEnded) {
    throw new Error("Cannot read the lines of the body: a parser of the application has read them");
  }
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return req;
  if (encoding !== "gzip") {
    throw refusal("UNSUPPORTED_MEDIA_TYPE", { message: `The Content-Encoding is not "gzip"` });
  }
  const lines = createGunzip();
  req.once("close", () => {
    if (!req.readableEnded) lines.destroy(new Error("The client has left"));
  });
  return req.pipe(lines);
}

function tooLong() {
  const message = `The line is longer than ${MAX_LINE} bytes: it and those behind it are not read`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_LINE });
}

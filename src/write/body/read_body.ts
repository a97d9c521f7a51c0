import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Request } from "express-types";
import { completeLimits } from "../../errors/complete_limits.ts";
import { badFormat, refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";

export function readBody(req: Request, limits: Count): JsonObject {
  const body = parsedBody(req);
  if (!isJsonObject(body)) throw badFormat("The body is not a JSON object");
  checkSize(body, limits);
  return body;
}

interface ManyLimits extends Count {
  readonly many: number;
}

/** Reads an array of what should be objects; `undefined` for any other body. The limits apply to each of them. */
export function readElements(
  req: Request,
  { many, ...limits }: ManyLimits,
): readonly unknown[] | undefined {
  const body = parsedBody(req);
  if (!Array.isArray(body)) return undefined;
  if (body.length > many) {
    const message = `The body has more than ${many} elements: send them in several requests`;
    throw refusal("PAYLOAD_TOO_LARGE", { message, limit: many });
  }
  for (const each of body) if (isJsonObject(each)) checkSize(each, limits);
  return body;
}

function readLine(text: string, limits: Count): Omit<BodyLine, "line"> {
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return { error: badFormat("The line is not a JSON object") };
    checkSize(body, limits);
    return { body };
  } catch (error) {
    return { error: error instanceof SyntaxError ? badFormat("The line is not JSON") : error };
  }
}

function parsedBody(req: Request): unknown {
  const length = req.headers["content-length"];
  const empty = req.headers["transfer-encoding"] === undefined &&
    (length === undefined || length === "0");
  // Parsers make an empty object of no bytes at all.
  if (length === "0" || empty && req.body === undefined) throw badFormat("The body is missing");
  const isUsual = req.headers["content-type"] === "application/json";
  if (!empty && !isUsual && !req.is(["json", "+json"])) throw unsupported();
  if (req.body === undefined) {
    if (!req.is("json")) throw unsupported();
    throw new Error(
      "Cannot read the body: no JSON parser is installed, mount express.json() before the framework",
    );
  }
  return req.body;
}

function unsupported(): RestError {
  return refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The Content-Type is not JSON" });
}

/** Limits on the size of request bodies. Larger ones answer 400. */
export interface BodyLimits {
  /**
   * The maximum number of keys, of all objects together.
   *
   * @default {5000}
   */
  readonly maxKeys?: number;
  /**
   * The maximum number of elements, of all arrays together.
   *
   * @default {5000}
   */
  readonly maxElements?: number;
  /**
   * The maximum number of objects inside of the body, at all levels together. Elements of arrays and values of Maps count,
   * those of free-form fields too.
   *
   * @default {1000}
   */
  readonly maxObjects?: number;
}

type Count = Required<BodyLimits>;

/** An embedded object costs Mongoose as much as hundreds of scalars, and more the more of them there are. */
const DEFAULT_BODY_LIMITS: Count = { maxKeys: 5_000, maxElements: 5_000, maxObjects: 1_000 };

const COUNTED: readonly [keyof Count, string][] = [
  ["maxKeys", "keys"],
  ["maxElements", "elements in arrays"],
  ["maxObjects", "objects"],
];

export function completeBodyLimits(given: BodyLimits = {}): Count {
  return completeLimits(given, { defaults: DEFAULT_BODY_LIMITS, what: "bodies" });
}

/** How deep a body may be nested: the database stores no more than 100 levels. */
const MAX_DEPTH = 100;

function checkSize(body: JsonObject, limits: Count): void {
  const total = { maxKeys: 0, maxElements: 0, maxObjects: 0 };
  for (const [field, value] of Object.entries(body)) {
    total.maxKeys++;
    if (typeof value === "object" && value !== null) countWithin(value, total);
    for (const [name, unit] of COUNTED) {
      if (total[name] <= limits[name]) continue;
      const message = `Field "${field}" goes over the limit of ${limits[name]} ${unit} in a body`;
      throw badFormat(message, { field });
    }
  }
}

function countWithin(value: unknown, total: Record<keyof Count, number>): void {
  // Level by level: a body may be nested deeper than calls can be.
  let level = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw badFormat(`The body is nested more than ${MAX_DEPTH} deep`);
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      const inner: unknown[] = Object.values(each);
      if (!Array.isArray(each)) total.maxObjects++;
      total[Array.isArray(each) ? "maxElements" : "maxKeys"] += inner.length;
      for (const one of inner) next.push(one);
    }
    level = next;
  }
}

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
        const message =
          `The line is longer than ${MAX_LINE} bytes: it and those behind it are not read`;
        const error = refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_LINE });
        return yield [...batch, { line, error }];
      }
      if (text.trim() !== "") batch.push({ line, ...readLine(text, limits) });
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

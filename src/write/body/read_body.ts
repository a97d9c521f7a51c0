import type { Request } from "express-types";
import { completeLimits } from "../../errors/complete_limits.ts";
import { badFormat, refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";

export function readBody(req: Request, limits: Required<BodyLimits>): JsonObject {
  const body = parsedBody(req);
  if (!isJsonObject(body)) throw badFormat("The body is not a JSON object");
  checkSize(body, limits);
  return body;
}

export interface ManyLimits extends Required<BodyLimits> {
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

export function readLine(text: string, limits: Required<BodyLimits>): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw badFormat("The line is not JSON");
  }
  if (!isJsonObject(body)) throw badFormat("The line is not a JSON object");
  checkSize(body, limits);
  return body;
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

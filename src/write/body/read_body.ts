import type { Request } from "express-types";
import { completeLimits } from "../../errors/complete_limits.ts";
import { badFormat, notJson, tooManyElements } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";

export function readBody(req: Request, limits: Count): JsonObject {
  const body = parsedBody(req);
  if (!isJsonObject(body)) throw badFormat("The body is not a JSON object");
  checkSize(body, limits);
  return body;
}

interface ElementLimits extends Count {
  readonly most: number;
}

/** The caller must refuse elements that are no objects. */
export function readElements(
  req: Request,
  { most, ...limits }: ElementLimits,
): readonly unknown[] {
  const body = parsedBody(req);
  if (!Array.isArray(body)) throw badFormat("The body is not a JSON array");
  if (body.length > most) throw tooManyElements(most);
  for (const each of body) if (isJsonObject(each)) checkSize(each, limits);
  return body;
}

/** Only the headers tell whether a body was sent, because middleware may have set one. */
function isEmpty({ headers }: Request): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] === undefined && (length === undefined || length === "0");
}

function hasSentNothing({ headers, body, readableEnded, readableDidRead }: Request): boolean {
  return headers["transfer-encoding"] !== undefined && readableEnded && !readableDidRead &&
    isJsonObject(body) && Object.keys(body).length === 0;
}

export function isJsonBody(req: Request): boolean {
  const isUsual = req.headers["content-type"] === "application/json";
  return isUsual || isEmpty(req) || Boolean(req.is(["json", "+json"]));
}

function parsedBody(req: Request): unknown {
  const isMissing = req.headers["content-length"] === "0" ||
    isEmpty(req) && req.body === undefined || hasSentNothing(req);
  // Parsers turn a missing body into an empty object, by which a PUT would clear the entity.
  if (isMissing) throw badFormat("The body is missing");
  if (!isJsonBody(req)) throw notJson();
  if (req.body === undefined) {
    if (!req.is("json")) throw notJson();
    throw new Error(
      "Cannot read the body: no JSON parser is installed, mount express.json() before the framework",
    );
  }
  return req.body;
}
/** @internal The limits on the size of request bodies. A larger body answers 400. */
export interface BodyLimits {
  /**
   * The maximum number of keys in all objects of a body together.
   *
   * @default {5000}
   */
  readonly maxKeys?: number;
  /**
   * The maximum number of elements in all arrays of a body together.
   *
   * @default {5000}
   */
  readonly maxElements?: number;
  /**
   * The maximum number of objects inside of a body, at all depths together.
   *
   * @default {1000}
   */
  readonly maxObjects?: number;
  /**
   * The maximum number of bytes of an import of lines after decompression. A larger import ends with a line with the
   * status 413. So does an import over 10 MiB that is over 100 times as large as its compressed body.
   *
   * @default {1073741824}
   */
  readonly maxImportBytes?: number;
}

export type Count = Required<Omit<BodyLimits, "maxImportBytes">>;

/** An object takes Mongoose as long as hundreds of scalars, so fewer objects are allowed. */
const DEFAULT_BODY_LIMITS: Required<BodyLimits> = {
  maxKeys: 5_000,
  maxElements: 5_000,
  maxObjects: 1_000,
  maxImportBytes: 1024 ** 3,
};

const COUNTED: readonly [keyof Count, string][] = [
  ["maxKeys", "keys"],
  ["maxElements", "elements in arrays"],
  ["maxObjects", "objects"],
];

export function completeBodyLimits(given: BodyLimits = {}): Required<BodyLimits> {
  return completeLimits(given, { defaults: DEFAULT_BODY_LIMITS, what: "bodies" });
}

/** MongoDB stores at most 100 levels of nested values. */
export const MAX_DEPTH = 100;

export function tooDeep(): RestError {
  return badFormat(`The body is nested more than ${MAX_DEPTH} deep`);
}

export function checkSize(body: JsonObject, limits: Count): void {
  const total = { maxKeys: 0, maxElements: 0, maxObjects: 0 };
  for (const [field, value] of Object.entries(body)) {
    total.maxKeys++;
    const check = () => {
      for (const [name, unit] of COUNTED) {
        if (total[name] <= limits[name]) continue;
        const message = `Field "${field}" goes over the limit of ${limits[name]} ${unit} in a body`;
        throw badFormat(message, { field });
      }
    };
    if (typeof value === "object" && value !== null) countWithin(value, { total, check });
    check();
  }
}

/** `check` also runs during the count, so that a huge body is refused early. */
function countWithin(
  value: unknown,
  { total, check }: { readonly total: Record<keyof Count, number>; readonly check: () => void },
): void {
  // A recursion could overflow the stack.
  let level = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw tooDeep();
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      check();
      const inner: unknown[] = Object.values(each);
      if (!Array.isArray(each)) total.maxObjects++;
      total[Array.isArray(each) ? "maxElements" : "maxKeys"] += inner.length;
      for (const one of inner) next.push(one);
    }
    level = next;
  }
}

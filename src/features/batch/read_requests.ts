import type { Request } from "express-types";
import { badFormat, refusal, withDetails } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import { type BodyLimits, readBody } from "../../write/body/read_body.ts";
import { readPath, type RequestPath } from "./request_path.ts";
import { checkResultNames } from "./results.ts";

export interface BatchRequest {
  readonly id: string;
  readonly method: string;
  readonly path: RequestPath;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface BatchLimits {
  readonly max: number;
  readonly bodyLimits: Required<BodyLimits>;
}

/** Whether requests of a method can have a body. */
export const METHODS: ReadonlyMap<unknown, boolean> = new Map([
  ["GET", false],
  ["POST", true],
  ["PUT", true],
  ["PATCH", true],
  ["DELETE", false],
]);

/** Requests in a batch may set these headers. All others come from the HTTP request. */
export const HEADERS = ["If-Match", "If-None-Match", "Prefer", "Accept"] as const;

const HEADER_NAMES: ReadonlySet<string> = new Set(HEADERS.map((name) => name.toLowerCase()));

/** A client relies on these headers, which have no effect on a batch, so the batch is refused. */
const WITHOUT_EFFECT = ["idempotency-key", "if-match"] as const;

export const ID_PATTERN = /^[\w-]{1,64}$/;

export function readRequests(req: Request, { max, bodyLimits }: BatchLimits): BatchRequest[] {
  const own = WITHOUT_EFFECT.find((name) => req.headers[name] !== undefined);
  if (own !== undefined) throw badFormat(`A batch takes no header "${own}"`);
  const { maxKeys, maxElements, maxObjects } = bodyLimits;
  // A batch may have `max` times as much as a single body, because each body in it is checked again later.
  const { requests, ...others } = readBody(req, {
    maxKeys: maxKeys * max,
    maxElements: maxElements * max,
    maxObjects: maxObjects * max,
  });
  const [other] = Object.keys(others);
  if (other !== undefined) throw badFormat(`A batch has no key "${other}"`);
  if (!Array.isArray(requests) || requests.length === 0) {
    throw badFormat(`"requests" is not a list of requests`);
  }
  if (requests.length > max) {
    const message = `The batch has more than ${max} requests: send them in several batches`;
    throw refusal("PAYLOAD_TOO_LARGE", { message, limit: max });
  }
  const ids = new Set<string>();
  return requests.map((each: unknown, index) => {
    const id = readId(each, { index, ids });
    try {
      return { id, ...readRequest(each as JsonObject, ids) };
    } catch (error) {
      throw error instanceof RestError ? withDetails(error, { failed: id }) : error;
    } finally {
      ids.add(id);
    }
  });
}

function readId(
  request: unknown,
  { index, ids }: { readonly index: number; readonly ids: ReadonlySet<string> },
): string {
  const { id } = isJsonObject(request) ? request : {};
  if (typeof id === "string" && ID_PATTERN.test(id) && !ids.has(id)) return id;
  throw badFormat(
    `Request ${index} has no "id" that no other request has, of at most 64 letters, digits, "_" and "-"`,
  );
}

function readRequest(
  { id: _id, method, path, headers = {}, body, ...others }: JsonObject,
  earlier: ReadonlySet<string>,
): Omit<BatchRequest, "id"> {
  const [other] = Object.keys(others);
  if (other !== undefined) throw badFormat(`A request has no key "${other}"`);
  const takesBody = METHODS.get(method);
  if (takesBody === undefined) {
    throw badFormat(`"method" is none of ${[...METHODS.keys()].join(", ")}`);
  }
  if (body !== undefined && !takesBody) throw badFormat(`A ${method} has no body`);
  checkResultNames(body, earlier);
  return {
    method: String(method),
    path: readPath(path, earlier),
    headers: readHeaders(headers),
    ...body !== undefined && { body },
  };
}

function readHeaders(given: unknown): Record<string, string> {
  if (!isJsonObject(given)) throw badFormat(`"headers" is not an object`);
  const headers: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = key.toLowerCase();
    if (!HEADER_NAMES.has(name)) {
      throw badFormat(`A request of a batch cannot set the header "${key}"`);
    }
    if (Object.hasOwn(headers, name)) throw badFormat(`The header "${key}" is given twice`);
    if (typeof value !== "string" || !/^[\x20-\x7e\t]{0,8192}$/.test(value)) {
      throw badFormat(`The header "${key}" is no text of a header`);
    }
    headers[name] = value;
  }
  return headers;
}

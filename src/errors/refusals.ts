import { RestError, type RestErrorOptions } from "./rest_error.ts";

export const STATUS_OF = {
  BAD_FORMAT: 400,
  BAD_DATA: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  NOT_ACCEPTABLE: 406,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNPROCESSABLE_ENTITY: 422,
  PRECONDITION_REQUIRED: 428,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

/** An error of the framework itself. Its body has a code, a message and details. */
export class Refusal extends RestError {}

// Hooks can throw errors with the same codes: `isConflict()` and the like know ours by these classes.
class OutOfReach extends Refusal {}
class Conflict extends Refusal {}
class Outage extends Refusal {}
class Locked extends Outage {}

export function refusal(
  code: ErrorCode,
  body: { readonly message: string; readonly [detail: string]: unknown },
  { of = Refusal, ...options }: RestErrorOptions & { readonly of?: typeof Refusal } = {},
): RestError {
  return new of(STATUS_OF[code], { code, ...body }, options);
}

/** The only 404: the entity does not exist, or the client may not see it. */
export function notFound(): RestError {
  return refusal("NOT_FOUND", { message: "No such entity" });
}

export function forbidden(): RestError {
  return refusal("FORBIDDEN", { message: "Not allowed" });
}

export function outOfReach(): RestError {
  return refusal("FORBIDDEN", { message: "The entity would be out of reach" }, { of: OutOfReach });
}

export function isOutOfReach(error: unknown): error is RestError {
  return error instanceof OutOfReach;
}

/** A 400 for a malformed `q` or parameter, and for a body that is not a JSON object. */
export function badFormat(message: string, details: object = {}): RestError {
  return refusal("BAD_FORMAT", { message, ...details });
}

export function badParameter(parameter: string, allowed: string): RestError {
  return badFormat(`Parameter "${parameter}" takes ${allowed}`, { parameter, allowed });
}

export interface Problem {
  readonly message: string;
  /** The type that a value could not be cast to, or the validator that refused it. */
  readonly kind: string;
}

export type Problems = Record<string, Problem>;

const MAX_PROBLEMS = 100;

/** A 400 with the problem of each field. `more` in its body is the number of problems that are left out. */
export function badData(problems: Problems, cause?: unknown): RestError {
  const all = Object.entries(problems);
  const errors = Object.fromEntries(all.slice(0, MAX_PROBLEMS));
  const more = all.length > MAX_PROBLEMS ? { more: all.length - MAX_PROBLEMS } : {};
  return refusal("BAD_DATA", { message: "The data is not valid", errors, ...more }, { cause });
}

/** A 409 for a document that was changed or removed during the request. */
export function conflict(cause?: unknown): RestError {
  const message = "The entity was changed by someone else";
  return refusal("CONFLICT", { message }, { cause, of: Conflict });
}

/** Codes of the server: what is stored is no number that can be counted on, or stands around a path. */
const CLASHES: ReadonlySet<unknown> = new Set([14, 28]);

/** Throws the error of an update of ours: a 409 if it does not fit what is stored. */
export function throwClash(error: unknown): never {
  throw CLASHES.has(Object(error).code) ? conflict(error) : error;
}

/** A 409 for a request that selects more entities than it may change. */
export function tooMany(limit: number): RestError {
  return refusal("CONFLICT", { message: `More than ${limit} entities are selected`, limit });
}

/** A 409 for a list that has more groups than an answer may show. */
export function tooManyGroups(limit: number, cause?: unknown): RestError {
  const message = `There are more than ${limit} groups: narrow them by q, or group by less`;
  return refusal("CONFLICT", { message, limit }, { cause });
}

/** A 409 for a new entity where a property holds one entity. */
export function occupied(): RestError {
  const message = "There is one already, or its parent was changed by someone else";
  return refusal("CONFLICT", { message }, { of: Conflict });
}

export function isConflict(error: unknown): boolean {
  return error instanceof Conflict;
}

export function preconditionFailed(
  message = "The entity has changed since it was read",
  cause?: unknown,
): RestError {
  return refusal("PRECONDITION_FAILED", { message }, { cause });
}

/** A 428 for a write that does not say which version it changes. */
export function preconditionRequired(): RestError {
  return refusal("PRECONDITION_REQUIRED", { message: `The header "If-Match" is required` });
}

const RETRY_LATER = { "Retry-After": "5" };

/** How a client gets done what one transaction cannot. */
const SPLIT = "send less in one request";

/** A 413 for what the database refuses to write in one transaction. */
export function tooMuch(cause: unknown): RestError {
  const message = `This is too much for one transaction: ${SPLIT}`;
  return refusal("PAYLOAD_TOO_LARGE", { message }, { cause });
}

/**
 * A 503 for a database that did not answer in time; `isLong` if less to write might have been done in time, `isLocked` if
 * the time was spent on waiting for another write.
 */
export function unavailable(
  cause?: unknown,
  { isLong = false, isLocked = false } = {},
): RestError {
  if (isLocked) return locked(cause);
  const late = isLong ? `, or this takes too long for one transaction: ${SPLIT}` : "";
  return overloaded(`The database is not available${late}`, cause);
}

/** A 503 for a request that has to wait until others end. */
export function overloaded(message: string, cause?: unknown): RestError {
  return refusal("UNAVAILABLE", { message }, { headers: RETRY_LATER, cause, of: Outage });
}

/** Says in an error that another request has locked what this one needs. */
export const LOCKED = { reason: "locked" } as const;

/** A 503 for a write of data that a transaction has locked. This request has written nothing. */
function locked(cause?: unknown): RestError {
  const message = "The data is locked by another write: repeat the request later";
  return refusal("UNAVAILABLE", { message, ...LOCKED }, {
    headers: RETRY_LATER,
    cause,
    of: Locked,
  });
}

export function isLocked(error: unknown): boolean {
  return error instanceof Locked;
}

export function isOutage(error: RestError): boolean {
  return error instanceof Outage;
}

export function internal(cause?: unknown): RestError {
  return refusal("INTERNAL", { message: "Internal error" }, { cause });
}

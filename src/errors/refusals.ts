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

/**
 * An error that the framework itself creates. The body has a code, a message and details, to which the framework can
 * add further details. Errors that hooks throw are never instances of this class, so their bodies stay unchanged.
 */
export class Refusal extends RestError {}

// A hook can throw a `RestError` with the same code as an error of the framework. By these classes, functions such as
// `isConflict()` recognise only the errors of the framework.
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

/**
 * Returns the error of every 404. The body is equal for an entity that does not exist and for an entity that the client
 * may not see, so a client cannot find out which identifiers exist.
 */
export function notFound(): RestError {
  return refusal("NOT_FOUND", { message: "No such entity" });
}

/** Returns the 404 for a request that no route of the application has answered. */
export function noRoute(): RestError {
  return refusal("NOT_FOUND", { message: "No such route" });
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

/** Returns a 400 for a malformed `q` or parameter, or for a body that is not a JSON object. */
export function badFormat(message: string, details: object = {}): RestError {
  return refusal("BAD_FORMAT", { message, ...details });
}

export function badParameter(parameter: string, allowed: string): RestError {
  return badFormat(`Parameter "${parameter}" takes ${allowed}`, { parameter, allowed });
}

export interface Problem {
  readonly message: string;
  /**
   * The name of the rule that the value breaks, for programs. The rule is a validator, such as `required`, or the type
   * to which the value cannot be cast.
   */
  readonly kind: string;
}

export type Problems = Record<string, Problem>;

const MAX_PROBLEMS = 100;

/**
 * Returns a 400 with the problems of fields, of which the body has at most 100. The number `more` in the body counts
 * the problems that the body leaves out.
 */
export function badData(problems: Problems, cause?: unknown): RestError {
  const all = Object.entries(problems);
  const errors = Object.fromEntries(all.slice(0, MAX_PROBLEMS));
  const more = all.length > MAX_PROBLEMS ? { more: all.length - MAX_PROBLEMS } : {};
  return refusal("BAD_DATA", { message: "The data is not valid", errors, ...more }, { cause });
}

const CHANGED = "The entity was changed by someone else";

/** Returns a 409 for an entity that another writer changed or removed during this request. */
export function conflict(cause?: unknown): RestError {
  return refusal("CONFLICT", { message: CHANGED }, { cause, of: Conflict });
}

/**
 * Returns a 409 for a body with a version that is not the stored version. {@linkcode isConflict} returns `false` for
 * this error, so that the framework does not repeat the request, which would compare the same versions.
 */
export function staleVersion(): RestError {
  return refusal("CONFLICT", { message: CHANGED });
}

/**
 * The MongoDB error codes of an update that does not fit the stored value, which are `TypeMismatch` (14), such as for
 * `$inc` of a text, and `PathNotViable` (28), such as for a path below a number.
 */
const CLASHES: ReadonlySet<unknown> = new Set([14, 28]);

/**
 * Throws a 409 if MongoDB refused an update that does not fit the stored value, or else the error unchanged. The
 * framework builds such an update from a document that it has read, so another writer has changed the value since that
 * read.
 */
export function throwClash(error: unknown): never {
  throw CLASHES.has(Object(error).code) ? conflict(error) : error;
}

/** Returns a 409 for a request that selects more entities than it may change. */
/** Returns the 409 for an action whose function `available` says no of the entity. */
export function notAvailableNow(action: string): RestError {
  return refusal("CONFLICT", { message: `The action "${action}" is not available now` });
}

export function tooMany(limit: number): RestError {
  return refusal("CONFLICT", { message: `More than ${limit} entities are selected`, limit });
}

/** Returns a 409 for a create on a property that can hold one entity and already holds one. */
export function occupied(): RestError {
  const message = "There is one already, or its parent was changed by someone else";
  return refusal("CONFLICT", { message }, { of: Conflict });
}

/** Returns a 409 for a value of a unique index that another entity has, with the fields that the reader may know. */
export function duplicateValue(fields: readonly string[], cause?: unknown): RestError {
  const message = "Another entity has the same value";
  return refusal("CONFLICT", { message, ...fields.length > 0 && { fields } }, { cause });
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

/** Returns a 428 for a write without `If-Match` on a route that requires this header. */
export function preconditionRequired(): RestError {
  return refusal("PRECONDITION_REQUIRED", { message: `The header "If-Match" is required` });
}

/** Returns a 406 for a header `Accept` that names none of the offered media types. */
export function notAcceptable(offered: readonly string[]): RestError {
  const allowed = offered.join(", ");
  return refusal("NOT_ACCEPTABLE", { message: `The header "Accept" takes ${allowed}`, allowed });
}

/** Returns a 413 for a body with more elements than a request may have. */
export function tooManyElements(limit: number): RestError {
  const message = `The body has more than ${limit} elements: send them in several requests`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit });
}

export function notJson(): RestError {
  return refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The Content-Type is not JSON" });
}

/** Returns a 422 for an idempotency key that an earlier request has sent with another body. */
export function misusedKey(): RestError {
  return refusal("UNPROCESSABLE_ENTITY", { message: "The key was used with another body" });
}

const RETRY_AFTER_SECONDS = 5;

/**
 * The longest pause that a 503 asks of a client by the header `Retry-After`. An overloaded database may ask for a
 * longer pause in its error.
 */
const MAX_RETRY_AFTER_SECONDS = 60;

function retryLater(pauseMS = 0): { readonly "Retry-After": string } {
  const seconds = Math.min(Math.ceil(pauseMS / 1000), MAX_RETRY_AFTER_SECONDS);
  return { "Retry-After": `${Math.max(RETRY_AFTER_SECONDS, seconds)}` };
}

/** The advice to the client in the message about a write that is too large or too slow for one transaction. */
const SPLIT = "send less in one request";

/** Returns a 413 for a write that the database refuses because it is too large for one transaction. */
export function tooMuch(cause: unknown): RestError {
  const message = `This is too much for one transaction: ${SPLIT}`;
  return refusal("PAYLOAD_TOO_LARGE", { message }, { cause });
}

/** Returns a 413 for a write after which an entity would be larger than the database can store. */
export function tooLarge(cause: unknown): RestError {
  const message = "The entity would be larger than the database can store";
  return refusal("PAYLOAD_TOO_LARGE", { message }, { cause });
}

/**
 * Returns a 503 for a database that did not answer in time. With `isLong`, the message advises the client to send less
 * in one request, because a smaller write could end in time. With `isLocked`, the error says that another write has
 * locked the data, so that the client repeats the request. `pauseMS` is the pause that an overloaded database asks for
 * in its error.
 */
export function unavailable(
  cause?: unknown,
  { isLong = false, isLocked = false, pauseMS = 0 } = {},
): RestError {
  if (isLocked) return locked(cause);
  const late = isLong ? `, or this takes too long for one transaction: ${SPLIT}` : "";
  return overloaded(`The database is not available${late}`, { cause, pauseMS });
}

/**
 * Returns a 503 for a request that the server cannot serve at the moment. `Retry-After` names the seconds after which
 * the client should repeat the request.
 */
export function overloaded(
  message: string,
  { cause, pauseMS }: { readonly cause?: unknown; readonly pauseMS?: number } = {},
): RestError {
  return refusal("UNAVAILABLE", { message }, { headers: retryLater(pauseMS), cause, of: Outage });
}

/**
 * The detail in the body of an error for a request that could not run because of a lock. The detail tells the client
 * that the request can be repeated.
 */
export const LOCKED = { reason: "locked" } as const;

/**
 * Returns a 503 for a write of data that another transaction has locked. The refused request has written nothing, so a
 * client can repeat the request.
 */
function locked(cause?: unknown): RestError {
  const message = "The data is locked by another write: repeat the request later";
  return refusal("UNAVAILABLE", { message, ...LOCKED }, {
    headers: retryLater(),
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

/** Returns an error with further details in its body. The error keeps its class, by which its cause is recognised. */
export function withDetails(error: RestError, details: object): RestError {
  const { status, body, headers, cause } = error;
  const made = error.constructor as typeof RestError;
  return new made(status, { ...body, ...details }, { headers: { ...headers }, cause });
}

export function internal(cause?: unknown): RestError {
  return refusal("INTERNAL", { message: "Internal error" }, { cause });
}

import { RestError } from "./rest_error.ts";
import type { RestErrorOptions } from "./rest_error.ts";

/** The codes of the framework's own errors, and the status of each. */
export const STATUS_OF = {
  BAD_FORMAT: 400,
  BAD_DATA: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  UNSUPPORTED_MEDIA_TYPE: 415,
  PRECONDITION_REQUIRED: 428,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

/** An error of the framework itself. Its body has a code, a message and details. */
export class Refusal extends RestError {}

export function refusal(
  code: ErrorCode,
  body: { readonly message: string },
  options?: RestErrorOptions,
): RestError {
  return new Refusal(STATUS_OF[code], { code, ...body }, options);
}

/** The only 404: the entity does not exist, or the client may not see it. */
export function notFound(): RestError {
  return refusal("NOT_FOUND", { message: "No such entity" });
}

/** A 403 for a request that a hook or a scope rejects. */
export function forbidden(message = "Not allowed"): RestError {
  return refusal("FORBIDDEN", { message });
}

/** A 403 for a write that would leave an entity outside of a scope. */
export function outOfReach(): RestError {
  const error = forbidden("The entity would be out of reach");
  outside.add(error);
  return error;
}

const outside = new WeakSet<object>();

/** Tells whether an error was made by {@linkcode outOfReach}, not by a hook. */
export function isOutOfReach(error: unknown): error is RestError {
  return typeof error === "object" && error !== null && outside.has(error);
}

/** A 400 for a malformed `q` or parameter, and for a body that is not a JSON object. */
export function badFormat(message: string, details: object = {}): RestError {
  return refusal("BAD_FORMAT", { message, ...details });
}

/** A 400 for a parameter with a value that is not allowed. */
export function badParameter(parameter: string, allowed: string): RestError {
  return badFormat(`Parameter "${parameter}" takes ${allowed}`, { parameter, allowed });
}

/** A 409 for a document that was changed or removed during the request. */
export function conflict(cause?: unknown): RestError {
  return conflictOf("The entity was changed by someone else", cause);
}

/** A 409 for a new entity where a property holds one entity. */
export function occupied(): RestError {
  return conflictOf("There is one already, or its parent was changed by someone else");
}

function conflictOf(message: string, cause?: unknown): RestError {
  const error = refusal("CONFLICT", { message }, { cause });
  conflicts.add(error);
  return error;
}

const conflicts = new WeakSet<object>();

/** Tells whether an error was made by {@linkcode conflict}, not by a hook. */
export function isConflict(error: unknown): boolean {
  return typeof error === "object" && error !== null && conflicts.has(error);
}

/** A 412 for an entity that has changed since the client read it. */
export function preconditionFailed(cause?: unknown): RestError {
  const message = "The entity has changed since it was read";
  return refusal("PRECONDITION_FAILED", { message }, { cause });
}

/** A 428 for a write that does not say which version it changes. */
export function preconditionRequired(): RestError {
  return refusal("PRECONDITION_REQUIRED", { message: `The header "If-Match" is required` });
}

const outages = new WeakSet<RestError>();

/** A 503 for a database that did not answer in time. */
export function unavailable(cause?: unknown): RestError {
  const body = { message: "The database is not available" };
  const error = refusal("UNAVAILABLE", body, { headers: { "Retry-After": "5" }, cause });
  outages.add(error);
  return error;
}

/** Tells whether an error was made by {@linkcode unavailable}, not by a hook. */
export function isOutage(error: RestError): boolean {
  return outages.has(error);
}

/** A 500 that shows no details. */
export function internal(cause?: unknown): RestError {
  return refusal("INTERNAL", { message: "Internal error" }, { cause });
}

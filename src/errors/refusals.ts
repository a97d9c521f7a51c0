import { RestError } from "./rest_error.ts";

/** An error of the framework itself. Its body has a code, a message and details. */
export class Refusal extends RestError {}

/** The only 404: the entity does not exist, or the client may not see it. */
export function notFound(): RestError {
  return new Refusal(404, { code: "NOT_FOUND", message: "No such entity" });
}

/** A 403 for a request that a hook or a scope rejects. */
export function forbidden(message = "Not allowed"): RestError {
  return new Refusal(403, { code: "FORBIDDEN", message });
}

/** A 400 for a malformed `q` or parameter, and for a body that is not a JSON object. */
export function badFormat(message: string, details: object = {}): RestError {
  return new Refusal(400, { code: "BAD_FORMAT", message, ...details });
}

/** A 409 for a document that was changed or removed during the request. */
export function conflict(cause?: unknown): RestError {
  const body = { code: "CONFLICT", message: "The entity was changed by someone else" };
  const error = new Refusal(409, body, { cause });
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
  return new Refusal(412, { code: "PRECONDITION_FAILED", message }, { cause });
}

/** A 428 for a write that does not say which version it changes. */
export function preconditionRequired(): RestError {
  const message = `The header "If-Match" is required`;
  return new Refusal(428, { code: "PRECONDITION_REQUIRED", message });
}

const outages = new WeakSet<RestError>();

/** A 503 for a database that did not answer in time. */
export function unavailable(cause?: unknown): RestError {
  const body = { code: "UNAVAILABLE", message: "The database is not available" };
  const error = new Refusal(503, body, { headers: { "Retry-After": "5" }, cause });
  outages.add(error);
  return error;
}

/** Tells whether an error was made by {@linkcode unavailable}, not by a hook. */
export function isOutage(error: RestError): boolean {
  return outages.has(error);
}

/** A 500 that shows no details. */
export function internal(cause?: unknown): RestError {
  return new Refusal(500, { code: "INTERNAL", message: "Internal error" }, { cause });
}

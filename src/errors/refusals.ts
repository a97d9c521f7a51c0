import { RestError } from "./rest_error.ts";

/** The one 404 of the code base: no such entity, or one that its reader may not see. */
export function notFound(): RestError {
  return new RestError(404, { code: "NOT_FOUND", message: "No such entity" });
}

/** The one 403 of the pipeline: a hook or a scope said no. */
export function forbidden(message = "Not allowed"): RestError {
  return new RestError(403, { code: "FORBIDDEN", message });
}

/** A 400 for what is malformed: `q`, parameters, a body that is no JSON object. */
export function badFormat(message: string, details: object = {}): RestError {
  return new RestError(400, { code: "BAD_FORMAT", message, ...details });
}

/** A 409 for a document that changed or vanished under the request. */
export function conflict(cause?: unknown): RestError {
  return new RestError(
    409,
    { code: "CONFLICT", message: "The entity was changed by someone else" },
    { cause },
  );
}

const outages = new WeakSet<RestError>();

/** A 503 for a database that did not answer in time. */
export function unavailable(cause?: unknown): RestError {
  const body = { code: "UNAVAILABLE", message: "The database is not available" };
  const error = new RestError(503, body, { headers: { "Retry-After": "5" }, cause });
  outages.add(error);
  return error;
}

/** Tells whether an error says that the database did not answer in time, not that a hook refused. */
export function isOutage(error: RestError): boolean {
  return outages.has(error);
}

/** The 500 that tells nothing. */
export function internal(cause?: unknown): RestError {
  return new RestError(500, { code: "INTERNAL", message: "Internal error" }, { cause });
}

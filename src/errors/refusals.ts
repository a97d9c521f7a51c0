import type { Failure } from "./failure.ts";
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
  RANGE_NOT_SATISFIABLE: 416,
  UNPROCESSABLE_ENTITY: 422,
  PRECONDITION_REQUIRED: 428,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

/** An error of the framework. Only its body, never the body of a hook's error, gets the index of a failed entity. */
export class Refusal extends RestError {
  readonly failure: Failure | undefined;

  constructor(status: number, body: object, { failure, ...options }: RefusalOptions = {}) {
    super(status, body, options);
    this.failure = failure;
  }
}

interface RefusalOptions extends RestErrorOptions {
  /** Missing in a hook's error, which thus never counts as an outage, even with the same code. */
  readonly failure?: Failure | undefined;
}

export function refusal(
  code: ErrorCode,
  body: { readonly message: string; readonly [detail: string]: unknown },
  options: RefusalOptions = {},
): Refusal {
  return new Refusal(STATUS_OF[code], { code, ...body }, options);
}

/** A hidden entity gets the answer of a missing one, so that clients cannot find out which identifiers exist. */
export function notFound(): RestError {
  return refusal("NOT_FOUND", { message: "No such entity" });
}

export function noRoute(): RestError {
  return refusal("NOT_FOUND", { message: "No such route" });
}

export function forbidden(): RestError {
  return refusal("FORBIDDEN", { message: "Not allowed" });
}

export function badFormat(message: string, details: object = {}): RestError {
  return refusal("BAD_FORMAT", { message, ...details });
}

export function badParameter(parameter: string, allowed: string): RestError {
  return badFormat(`Parameter "${parameter}" takes ${allowed}`, { parameter, allowed });
}

export interface Problem {
  readonly message: string;
  /** The failed rule, or the type of a failed cast. */
  readonly kind: string;
}

export type Problems = Record<string, Problem>;

const MAX_PROBLEMS = 100;

export function badData(problems: Problems, cause?: unknown): RestError {
  const all = Object.entries(problems);
  const errors = Object.fromEntries(all.slice(0, MAX_PROBLEMS));
  const more = all.length > MAX_PROBLEMS ? { more: all.length - MAX_PROBLEMS } : {};
  return refusal("BAD_DATA", { message: "The data is not valid", errors, ...more }, { cause });
}

export function noSuchBytes(headers: Readonly<Record<string, string>> = {}): RestError {
  return refusal("RANGE_NOT_SATISFIABLE", { message: "The file has no such bytes" }, { headers });
}

export function notAvailableNow(action: string): RestError {
  return refusal("CONFLICT", { message: `The action "${action}" is not available now` });
}

export function preconditionFailed(
  message = "The entity has changed since it was read",
  cause?: unknown,
): RestError {
  return refusal("PRECONDITION_FAILED", { message }, { cause });
}

export function preconditionRequired(): RestError {
  return refusal("PRECONDITION_REQUIRED", { message: `The header "If-Match" is required` });
}

export function notAcceptable(offered: readonly string[]): RestError {
  const allowed = offered.join(", ");
  return refusal("NOT_ACCEPTABLE", { message: `The header "Accept" takes ${allowed}`, allowed });
}

export function tooManyElements(limit: number): RestError {
  const message = `The body has more than ${limit} elements: send them in several requests`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit });
}

export function notJson(): RestError {
  return refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The Content-Type is not JSON" });
}

export function misusedKey(): RestError {
  return refusal("UNPROCESSABLE_ENTITY", { message: "The key was used with another body" });
}

/** A lock has prevented the writes, so the client may repeat the request. */
export const LOCKED = { reason: "locked" } as const;

export function withDetails(error: RestError, details: object): RestError {
  const { status, body, headers, cause } = error;
  const options = { headers: { ...headers }, cause };
  return error instanceof Refusal
    ? new Refusal(status, { ...body, ...details }, { ...options, failure: error.failure })
    : new RestError(status, { ...body, ...details }, options);
}

export function internal(cause?: unknown): RestError {
  return refusal("INTERNAL", { message: "Internal error" }, { cause });
}

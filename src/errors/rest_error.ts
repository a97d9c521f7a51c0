import { STATUS_CODES } from "node:http";

/** @internal */
export interface RestErrorOptions {
  headers?: Record<string, string>;
  /** The cause of the error, which clients never see. */
  cause?: unknown;
}

const texts = new WeakSet<RestError>();

/** Whether the error was created with a string. An object of the application is never sent as problem details. */
export function hasTextBody(error: RestError): boolean {
  return texts.has(error);
}

/**
 * An error that sets the HTTP status and the JSON body of the answer.
 *
 * If a hook throws a `RestError`, no further step of the request runs. An object becomes the body of the answer. A
 * string becomes the body `{ code, message }`, in which `code` is the name of the status, such as `FORBIDDEN`. Clients
 * whose `Accept` header names `application/problem+json` get an error with a string as problem details (RFC 9457).
 *
 * @example Give a body or a message
 * ```ts
 * import { RestError } from "@mongrove/mongrove";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new RestError(401, { code: "UNAUTHENTICATED" }).body, { code: "UNAUTHENTICATED" });
 * assertEquals(new RestError(403, "Not yours").body, { code: "FORBIDDEN", message: "Not yours" });
 * ```
 */
export class RestError extends Error {
  /** Always `"RestError"`. */
  override readonly name = "RestError";
  /** The HTTP status of the answer, from 300 to 599. */
  readonly status: number;
  /** The JSON body of the answer. */
  readonly body: object;
  /** The headers that the error adds to the answer. Empty by default. */
  readonly headers: Readonly<Record<string, string>>;

  /** Creates the error. Throws a `RangeError` if `status` is not an integer from 300 to 599. */
  constructor(status: number, detail: object | string, options: RestErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 300 || status > 599) {
      throw new RangeError(
        `Cannot build a RestError: status ${status} is not a number from 300 to 599`,
      );
    }
    const isText = typeof detail === "string";
    const body = isText ? { code: statusName(status), message: detail } : detail;
    super(messageOf(body, status), "cause" in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.body = body;
    if (isText) texts.add(this);
    this.headers = options.headers ?? {};
  }
}

function messageOf(body: object, status: number): string {
  const { message, code } = body as { message?: unknown; code?: unknown };
  return [message, code].find((part) => typeof part === "string") as string | undefined ??
    statusName(status);
}

export function statusName(status: number): string {
  const words = statusText(status).replace(/[^A-Za-z0-9 -]/g, "");
  return words.toUpperCase().replace(/[ -]+/g, "_");
}

export function statusText(status: number): string {
  return STATUS_CODES[status] ?? "Error";
}

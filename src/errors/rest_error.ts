import { STATUS_CODES } from "node:http";

/** Options of {@linkcode RestError}. */
export interface RestErrorOptions {
  /** Headers of the answer, such as `WWW-Authenticate`. */
  headers?: Record<string, string>;
  /** The error that caused this one. Clients never see it. */
  cause?: unknown;
}

const texts = new WeakSet<RestError>();

/** Tells whether an error was created with a message instead of a body. */
export function isText(error: RestError): boolean {
  return texts.has(error);
}

/**
 * An error that sets the HTTP status and the JSON body of the answer.
 *
 * If a hook throws it, no further step of the request runs. An object is sent as it is. A string becomes
 * `{ code, message }`, and the code is the name of the status. Clients whose `Accept` header names
 * `application/problem+json` get a string as problem details (RFC 9457).
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
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The JSON body of the answer. */
  readonly body: object;
  /** The headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  /** Creates the error. */
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

/** Names a status as the `code` of error bodies does: `FORBIDDEN` for 403. */
export function statusName(status: number): string {
  const words = statusText(status).replace(/[^A-Za-z0-9 -]/g, "");
  return words.toUpperCase().replace(/[ -]+/g, "_");
}

export function statusText(status: number): string {
  return STATUS_CODES[status] ?? "Error";
}

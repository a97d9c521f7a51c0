import { statusName } from "./status_name.ts";

/** What a {@linkcode RestError} may carry besides its status and body. */
export interface RestErrorOptions {
  /** Headers of the answer, such as `WWW-Authenticate`. */
  headers?: Record<string, string>;
  /** The error behind this one; it never leaves the process. */
  cause?: unknown;
}

/**
 * An error with the HTTP status and the JSON body that answer the request.
 *
 * Thrown by a hook, it stops the pipeline. The object form is the body, exactly; the string form becomes
 * `{ code, message }` with the status's name as the code.
 *
 * @example The two forms
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

  /**
   * Builds the error.
   *
   * @param status The HTTP status, 300 to 599.
   * @param detail The body, or a message.
   * @param options Headers and a cause.
   * @throws {RangeError} If the status is none.
   */
  constructor(status: number, detail: object | string, options: RestErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 300 || status > 599) {
      throw new RangeError(
        `Cannot build a RestError: status ${status} is not a number from 300 to 599`,
      );
    }
    const body = typeof detail === "string"
      ? { code: statusName(status), message: detail }
      : detail;
    super(messageOf(body, status), "cause" in options ? { cause: options.cause } : undefined);
    this.status = status;
    this.body = body;
    this.headers = options.headers ?? {};
  }
}

function messageOf(body: object, status: number): string {
  const { message, code } = body as { message?: unknown; code?: unknown };
  return [message, code].find((part) => typeof part === "string") as string | undefined ??
    statusName(status);
}

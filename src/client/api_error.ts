/** The problem of a field of a body. */
export interface FieldError {
  /** The message. */
  readonly message: string;
  /** The rule that the value breaks, such as `required`. */
  readonly kind: string;
}

/**
 * An answer that is no success.
 *
 * @example Show errors at the fields of a form
 * ```ts
 * import { ApiError } from "@mongrove/mongrove/client";
 *
 * function messageOf(error: unknown, field: string): string | undefined {
 *   return error instanceof ApiError ? error.errors[field]?.message : undefined;
 * }
 * ```
 */
export class ApiError extends Error {
  /** The name of the class. */
  override readonly name: string = "ApiError";
  /** The status. */
  declare readonly status: number;
  /** The code of the body, such as `NOT_FOUND`; `HTTP_502` if the body has none. */
  declare readonly code: string;
  /** The problems by field. It is empty if the body names none. */
  declare readonly errors: Readonly<Record<string, FieldError>>;
  /** The body: JSON, or text if it is no JSON. */
  declare readonly body: unknown;

  /**
   * Makes the error of an answer.
   *
   * @param status The status.
   * @param body The body.
   */
  constructor(status: number, body: unknown) {
    const { code, message, detail, errors } = (body ?? {}) as Record<string, unknown>;
    const name = typeof code === "string" ? code : `HTTP_${status}`;
    super([message, detail, name].find((text) => typeof text === "string") as string);
    this.status = status;
    this.code = name;
    this.errors = typeof errors === "object" && errors !== null ? errors as this["errors"] : {};
    this.body = body;
  }
}

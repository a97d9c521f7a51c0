/** The error of one field of a refused body. */
export interface FieldError {
  /** The text of the error for people. */
  readonly message: string;
  /** The rule that the value breaks, such as `required`, for programs. */
  readonly kind: string;
}

/**
 * The error that the client throws if the server reports a failure, such as a 404, or if a body is not JSON.
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
  /** Always `"ApiError"`, so that code can recognise the error without an import of the class. */
  override readonly name: string = "ApiError";
  /** The HTTP status of the answer. It can be 2xx, for example if the body is not JSON. */
  declare readonly status: number;
  /** The property `code` of the body, such as `NOT_FOUND`, or else the status, such as `HTTP_502`. */
  declare readonly code: string;
  /** The errors of the sent body, by the path of the field, such as `address.city`. */
  declare readonly errors: Readonly<Record<string, FieldError>>;
  /** The parsed JSON of the answer, or its text if the answer is not JSON. */
  declare readonly body: unknown;

  /** Creates the error of an answer from its parsed JSON or its text. */
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

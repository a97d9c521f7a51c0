import { RestError } from "./rest_error.ts";

/** What is wrong with one field. */
export interface Problem {
  /** What to tell the client. */
  readonly message: string;
  /** The kind: the type that a value could not be cast to, or the validator that refused it. */
  readonly kind: string;
}

/** The problems of a body, by path. */
export type Problems = Record<string, Problem>;

/** The 400 that names what is wrong with which field. */
export function badData(errors: Problems, cause?: unknown): RestError {
  return new RestError(400, { code: "BAD_DATA", message: "The data is not valid", errors }, {
    cause,
  });
}

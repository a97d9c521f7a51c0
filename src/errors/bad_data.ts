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

/** How many problems an answer names: a client mends a few at a time. */
const MOST_PROBLEMS = 100;

/** The 400 that names what is wrong with which field; `more` tells how many problems are left out. */
export function badData(problems: Problems, cause?: unknown): RestError {
  const all = Object.entries(problems);
  const errors = Object.fromEntries(all.slice(0, MOST_PROBLEMS));
  const more = all.length > MOST_PROBLEMS ? { more: all.length - MOST_PROBLEMS } : {};
  return new RestError(
    400,
    { code: "BAD_DATA", message: "The data is not valid", errors, ...more },
    { cause },
  );
}

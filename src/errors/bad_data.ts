import { refusal } from "./refusals.ts";
import type { RestError } from "./rest_error.ts";

/** The problem of one field. */
export interface Problem {
  readonly message: string;
  /** The type that a value could not be cast to, or the validator that refused it. */
  readonly kind: string;
}

/** The problems of a body, by path. */
export type Problems = Record<string, Problem>;

const MOST_PROBLEMS = 100;

/** A 400 with the problem of each field. `more` in its body is the number of problems that are left out. */
export function badData(problems: Problems, cause?: unknown): RestError {
  const all = Object.entries(problems);
  const errors = Object.fromEntries(all.slice(0, MOST_PROBLEMS));
  const more = all.length > MOST_PROBLEMS ? { more: all.length - MOST_PROBLEMS } : {};
  const body = { message: "The data is not valid", errors, ...more };
  return refusal("BAD_DATA", body, { cause });
}

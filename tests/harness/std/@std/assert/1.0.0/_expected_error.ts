import { suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import { assertIsError, type ErrorClass } from "./is_error.ts";

/** What a caller of `assertThrows` or `assertRejects` expects. */
export interface ExpectedError<E extends Error> {
  /** The class of the error, if any will not do. */
  errorClass?: ErrorClass<E> | undefined;
  /** A part of the error's message. */
  includes?: string | undefined;
  /** The caller's own message. */
  msg?: string | undefined;
}

/** Reads the overloaded arguments: `(msg)` or `(class, includes, msg)`. */
export function readExpected<E extends Error>(
  classOrMsg: ErrorClass<E> | string | undefined,
  includes: string | undefined,
  msg: string | undefined,
): ExpectedError<E> {
  if (typeof classOrMsg === "string") return { msg: classOrMsg };
  const isError = classOrMsg === undefined ||
    classOrMsg.prototype === Error.prototype ||
    classOrMsg.prototype instanceof Error;
  return isError ? { errorClass: classOrMsg, includes, msg } : { msg };
}

/** Holds what was thrown against what is expected, and gives it back. */
export function checkThrown<E extends Error>(
  error: unknown,
  { errorClass, includes, msg }: ExpectedError<E>,
  verb: string,
): unknown {
  if (!errorClass) return error;
  if (!(error instanceof Error)) {
    throw new AssertionError(`A non-Error object was ${verb}${suffix(msg)}`);
  }
  assertIsError(error, errorClass, includes, msg);
  return error;
}

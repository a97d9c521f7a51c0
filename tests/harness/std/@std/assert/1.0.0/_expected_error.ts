import { suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import { assertIsError, type ErrorClass } from "./is_error.ts";

export interface ExpectedError<E extends Error> {
  errorClass?: ErrorClass<E> | undefined;
  includes?: string | undefined;
  msg?: string | undefined;
}

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

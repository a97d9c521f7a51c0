import { stripVTControlCharacters } from "node:util";
import { suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";

export type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

function says(error: Error, wanted: string | RegExp): boolean {
  const message = stripVTControlCharacters(error.message);
  return wanted instanceof RegExp
    ? wanted.test(message)
    : message.includes(stripVTControlCharacters(wanted));
}

export function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: ErrorClass<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) {
    throw new AssertionError(
      `Expected "error" to be an Error object${suffix(msg)}`,
    );
  }
  if (ErrorClass && !(error instanceof ErrorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${ErrorClass.name}", ` +
        `but was "${error.constructor?.name}"${suffix(msg)}`,
    );
  }
  if (msgMatches && !says(error, msgMatches)) {
    throw new AssertionError(
      `Expected error message to include ${JSON.stringify(String(msgMatches))}` +
        `, but got ${JSON.stringify(error.message)}${suffix(msg)}`,
    );
  }
}

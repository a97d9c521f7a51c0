import { checkThrown, readExpected } from "./_expected_error.ts";
import { suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import type { ErrorClass } from "./is_error.ts";

export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  classOrMsg?: ErrorClass<E> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  const expected = readExpected(classOrMsg, msgIncludes, msg);
  try {
    fn();
  } catch (error) {
    return checkThrown(error, expected, "thrown");
  }
  throw new AssertionError(
    `Expected function to throw${suffix(expected.msg)}`,
  );
}

import { show, suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import { equal } from "./equal.ts";

function compared(actual: unknown, expected: unknown): string {
  return `\n    actual: ${show(actual)}\n    expected: ${show(expected)}`;
}

/** Asserts that two values are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(
    `Values are not equal${suffix(msg)}${compared(actual, expected)}`,
  );
}

/** Asserts that two values are not deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(
    `Expected actual: ${show(actual)} not to be: ${show(expected)}` +
      suffix(msg),
  );
}

/** Asserts that two values are the same, as `Object.is` tells. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  throw new AssertionError(
    `Values are not strictly equal${suffix(msg)}${compared(actual, expected)}`,
  );
}

/** Asserts that two values are not the same, as `Object.is` tells. */
export function assertNotStrictEquals<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (!Object.is(actual, expected)) return;
  throw new AssertionError(
    `Expected "actual" to not be strictly equal to: ${show(actual)}` +
      suffix(msg),
  );
}

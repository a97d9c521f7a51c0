import { show, suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import { equal } from "./equal.ts";

function compared(actual: unknown, expected: unknown): string {
  return `\n    actual: ${show(actual)}\n    expected: ${show(expected)}`;
}

export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(
    `Values are not equal${suffix(msg)}${compared(actual, expected)}`,
  );
}

export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(
    `Expected actual: ${show(actual)} not to be: ${show(expected)}` +
      suffix(msg),
  );
}

/** As `Object.is` says. */
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

/** As `Object.is` says. */
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

import { show, suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import { equal } from "./equal.ts";

export function assertArrayIncludes<T>(
  actual: ArrayLike<T> & object,
  expected: ArrayLike<T> & object,
  msg?: string,
): void {
  const there = Array.from(actual);
  const missing = Array.from(expected)
    .filter((wanted) => !there.some((item) => equal(wanted, item)));
  if (missing.length === 0) return;
  throw new AssertionError(
    `Expected actual: "${show(actual)}" to include: "${show(expected)}"` +
      `${suffix(msg)}\nmissing: ${show(missing)}`,
  );
}

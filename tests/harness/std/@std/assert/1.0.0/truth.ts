import { suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";

export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

export function assertFalse(expr: unknown, msg = ""): void {
  if (expr) throw new AssertionError(msg);
}

export function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to not be null or undefined${suffix(msg)}`,
  );
}

export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${suffix(msg)}`);
}

/** Fails for code that is not written yet. */
export function unimplemented(msg?: string): never {
  throw new AssertionError(`Unimplemented${suffix(msg)}`);
}

/** Fails at a place that must never be reached. */
export function unreachable(msg?: string): never {
  throw new AssertionError(`Unreachable${suffix(msg)}`);
}

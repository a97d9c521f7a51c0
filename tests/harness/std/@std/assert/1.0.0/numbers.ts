import { show, suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";

function refuse<T>(
  actual: T,
  sign: string,
  expected: T,
  msg: string | undefined,
): never {
  throw new AssertionError(
    msg ?? `Expect ${show(actual)} ${sign} ${show(expected)}`,
  );
}

export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) refuse(actual, ">", expected, msg);
}

export function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (!(actual >= expected)) refuse(actual, ">=", expected, msg);
}

export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) refuse(actual, "<", expected, msg);
}

export function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void {
  if (!(actual <= expected)) refuse(actual, "<=", expected, msg);
}

export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance: number = isFinite(expected) ? Math.abs(expected * 1e-7) : 1e-7,
  msg?: string,
): void {
  if (Object.is(actual, expected)) return;
  const delta = Math.abs(expected - actual);
  if (delta <= tolerance) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to be close to "${expected}": ` +
      `delta "${delta}" is greater than "${tolerance}"${suffix(msg)}`,
  );
}

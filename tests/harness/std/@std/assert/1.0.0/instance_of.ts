import { show, suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";

export function assertInstanceOf<
  T extends abstract new (...args: never[]) => unknown,
>(
  actual: unknown,
  expectedType: T,
  msg = "",
): asserts actual is InstanceType<T> {
  if (actual instanceof expectedType) return;
  throw new AssertionError(
    `Expected object to be an instance of "${expectedType.name}" ` +
      `but was ${show(actual)}${suffix(msg)}`,
  );
}

export function assertNotInstanceOf<A, T>(
  actual: A,
  unexpectedType: abstract new (...args: never[]) => T,
  msg?: string,
): asserts actual is Exclude<A, T> {
  if (!(actual instanceof unexpectedType)) return;
  throw new AssertionError(
    `Expected object to not be an instance of "${unexpectedType.name}"` +
      suffix(msg),
  );
}

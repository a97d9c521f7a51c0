import { checkThrown, readExpected } from "./_expected_error.ts";
import { suffix } from "./_show.ts";
import { AssertionError } from "./assertion_error.ts";
import type { ErrorClass } from "./is_error.ts";

/** Calls a function and takes nothing but a promise from it. */
function callForPromise(
  fn: () => PromiseLike<unknown>,
  msg: string | undefined,
): PromiseLike<unknown> {
  let promise: PromiseLike<unknown> | undefined;
  try {
    promise = fn();
  } catch {
    // Thrown below, as for a function without a promise.
  }
  if (typeof promise === "object" && typeof promise?.then === "function") {
    return promise;
  }
  throw new AssertionError(
    `Function throws when expected to reject${suffix(msg)}`,
  );
}

export function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ErrorClass<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ErrorClass<E> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const expected = readExpected(classOrMsg, msgIncludes, msg);
  const promise = callForPromise(fn, expected.msg);
  try {
    await promise;
  } catch (error) {
    return checkThrown(error, expected, "rejected");
  }
  throw new AssertionError(
    `Expected function to reject${suffix(expected.msg)}`,
  );
}

import { hookFailure } from "./hook_failure.ts";
import type { HostFunction } from "./hook_failure.ts";
import { isPromise } from "./and_then.ts";
import type { MaybePromise } from "./hooks.ts";

/**
 * Runs a function of the host, so that what it throws is known as its own.
 *
 * @param entity The entity that it works on, if any.
 * @throws {HookFailure} What it threw, unless that is a `RestError`.
 */
export function runHook<T>(
  hook: HostFunction,
  run: () => MaybePromise<T>,
  entity?: object,
): MaybePromise<T> {
  const options = entity && { entity };
  let result: MaybePromise<T>;
  try {
    result = run();
  } catch (error) {
    throw hookFailure(hook, error, options);
  }
  if (!isPromise(result)) return result;
  return Promise.resolve(result).catch((error) => {
    throw hookFailure(hook, error, options);
  });
}

import type { MaybePromise } from "./hooks.ts";

/** Tells whether a hook has given a promise of its result: anything that can be awaited. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value && typeof value.then === "function";
}

/** Goes on with a value: at once, unless it is a promise. Most hooks wait for nothing, and lists are long. */
export function andThen<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

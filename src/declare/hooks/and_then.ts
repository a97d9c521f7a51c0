import type { MaybePromise } from "./hooks.ts";

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value && typeof value.then === "function";
}

/** Passes a value on, without waiting unless it is a promise: most hooks are synchronous, and lists are long. */
export function andThen<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

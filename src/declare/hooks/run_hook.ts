import { StoreFailure } from "../../errors/failure.ts";
import { RestError } from "../../errors/rest_error.ts";
import type { HookName, MaybePromise } from "./hooks.ts";

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value && typeof value.then === "function";
}

/**
 * Calls `next` synchronously unless `value` is a promise. Most hooks are synchronous, and a promise for each entity
 * would slow down long lists.
 */
export function andThen<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

export function runHook<T>(
  hook: HostFunction,
  run: () => MaybePromise<T>,
): MaybePromise<T> {
  let result: MaybePromise<T>;
  try {
    result = run();
  } catch (error) {
    throw hookFailure(hook, error);
  }
  if (!isPromise(result)) return result;
  return Promise.resolve(result).catch((error) => {
    throw hookFailure(hook, error);
  });
}

/** The names of functions of an application. Only in `persist` and `run`, a `ValidationError` answers 400, not 500. */
export type HostFunction =
  | HookName
  | "scope"
  | "actor"
  | "actorNames"
  | "tenant"
  | "rights"
  | "caller"
  | "getConnection"
  | "validate"
  | "available"
  | "run"
  | "plugin";

/**
 * An error that a function of the application threw. A Mongoose error in most hooks answers 500 and not 400, because
 * the client has not caused it.
 */
export class HookFailure extends Error {
  /**
   * Whether the function used a connection that is not open. If Mongoose gave up waiting for the connection, the answer
   * is 503 instead of 500.
   */
  readonly away: boolean;

  constructor(
    readonly hook: HostFunction,
    readonly thrown: unknown,
    { away = false }: { readonly away?: boolean } = {},
  ) {
    super(`The hook "${hook}" failed`, { cause: thrown });
    this.away = away;
  }
}

/**
 * Wraps an error of the application in a {@linkcode HookFailure}. A `RestError` is the answer for the client, and a
 * `StoreFailure` comes from the framework, so both stay unchanged.
 */
export function hookFailure(...args: ConstructorParameters<typeof HookFailure>): Error {
  const [, thrown] = args;
  const isKnown = thrown instanceof RestError || thrown instanceof StoreFailure ||
    thrown instanceof HookFailure;
  return isKnown ? thrown : new HookFailure(...args);
}

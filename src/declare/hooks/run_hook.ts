import { StoreFailure } from "../../errors/failure.ts";
import { RestError } from "../../errors/rest_error.ts";
import type { HookName, MaybePromise } from "./hooks.ts";

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value && typeof value.then === "function";
}

/**
 * Calls `next` with a value, or with the result of a promise. A value is passed synchronously, because most hooks are
 * synchronous and a promise for each entity would slow down long lists.
 */
export function andThen<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

/**
 * Runs a function of the application. Throws a `HookFailure` with the error of the function, so that the answer does
 * not blame the client for a mistake of the application. A `RestError` is thrown unchanged, because it is the answer
 * for the client.
 */
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

/**
 * The names of the functions of the application that the framework runs for a request. The answer to an error depends
 * on the function that threw it.
 */
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
  | "run";

/**
 * An error that a function of the application threw, such as a hook. By this class, a Mongoose error in most hooks
 * answers 500 and not 400, because the client has not caused the error.
 */
export class HookFailure extends Error {
  /**
   * Whether the function of the application used a connection that is not open, such as in the query of a `fetch` hook.
   * If Mongoose gave up waiting for this connection, the answer is 503 instead of a 500.
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
 * Returns the error to throw after a function of the application has thrown an error. The error is wrapped, so that the
 * answer does not blame the client. A `RestError` is returned unchanged, because it is the answer for the client, and a
 * `StoreFailure`, because the framework has thrown it.
 */
export function hookFailure(...args: ConstructorParameters<typeof HookFailure>): Error {
  const [, thrown] = args;
  const isKnown = thrown instanceof RestError || thrown instanceof StoreFailure ||
    thrown instanceof HookFailure;
  return isKnown ? thrown : new HookFailure(...args);
}

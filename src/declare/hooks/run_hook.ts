import { RestError } from "../../errors/rest_error.ts";
import type { HookName, MaybePromise } from "./hooks.ts";

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

/** Runs a function of the host. Throws a `HookFailure` with what the function threw, or the `RestError` itself. */
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

/** The functions of the host that run for a request. */
export type HostFunction =
  | HookName
  | "scope"
  | "rights"
  | "by"
  | "getConnection"
  | "validate"
  | "run";

/** An error that a function of the host threw: an error of the host, whatever its class. */
export class HookFailure extends Error {
  /** Whether it waited for a connection that is not open. */
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

/** Gives the error to throw for what a function of the host threw. A `RestError` goes to the client as it is. */
export function hookFailure(...args: ConstructorParameters<typeof HookFailure>): Error {
  const [, thrown] = args;
  const isKnown = thrown instanceof RestError || thrown instanceof HookFailure;
  return isKnown ? thrown : new HookFailure(...args);
}

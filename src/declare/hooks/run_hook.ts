import { RestError } from "../../errors/rest_error.ts";
import { isPromise } from "./and_then.ts";
import type { HookName, MaybePromise } from "./hooks.ts";

/**
 * Runs a function of the host.
 *
 * @throws {HookFailure} With what the function threw, unless that is a `RestError`.
 */
export function runHook<T>(
  hook: HostFunction,
  run: () => MaybePromise<T>,
  options?: HookFailureOptions,
): MaybePromise<T> {
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

/** The functions of the host that run for a request. */
export type HostFunction = HookName | "scope" | "getConnection" | "validate";

/** Options of {@linkcode HookFailure}. */
export interface HookFailureOptions {
  /** The entity that the function worked on. */
  readonly entity?: object;
  /** Whether it waited for a connection that is not open. */
  readonly away?: boolean;
}

/** An error that a function of the host threw: an error of the host, whatever its class. */
export class HookFailure extends Error {
  readonly hook: HostFunction;
  /** What the function threw. */
  readonly thrown: unknown;
  readonly entity: object | undefined;
  readonly away: boolean;

  constructor(hook: HostFunction, thrown: unknown, options: HookFailureOptions = {}) {
    super(`The hook "${hook}" failed`, { cause: thrown });
    this.hook = hook;
    this.thrown = thrown;
    this.entity = options.entity;
    this.away = options.away ?? false;
  }
}

/** Gives the error to throw for what a function of the host threw. A `RestError` goes to the client as it is. */
export function hookFailure(...args: ConstructorParameters<typeof HookFailure>): Error {
  const [, thrown] = args;
  return thrown instanceof RestError || thrown instanceof HookFailure
    ? thrown
    : new HookFailure(...args);
}

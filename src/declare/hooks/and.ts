import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, EntityOf, PreFetch, RequestOf } from "./hooks.ts";
import { isRejection } from "./_rejection.ts";

/**
 * Combines hooks that must all pass into one hook.
 *
 * The hooks run in order. Each entity hook gets the entity that the previous hook returned. The first hook that rejects
 * ends the run. A hook rejects if it throws or returns `null`, `undefined` or `false`. A `preFetch` hook rejects unless
 * it returns `true`.
 *
 * @typeParam E The entity.
 * @typeParam R The request.
 * @param hooks `preFetch`, `postFetch`, `preSave` or `preSend` hooks, or combinations of them.
 * @returns A hook of the same kind.
 *
 * @example Require both conditions
 * ```ts
 * import { and, type FrameworkRequest } from "@mongrove/mongrove";
 *
 * const isUser = (req: FrameworkRequest) => req.headers["x-user"] !== undefined;
 * const isLocal = (req: FrameworkRequest) => req.ip === "127.0.0.1";
 * const isLocalUser = and(isUser, isLocal);
 * ```
 */
export function and<E, R = FrameworkRequest>(...hooks: EntityHook<E, R>[]): EntityHook<E, R>;
/** Combines `preFetch` hooks that must all pass. */
export function and<R = FrameworkRequest>(...hooks: PreFetch<R>[]): PreFetch<R>;
/** Combines hooks with different parameter types. The result accepts what all of them accept. */
export function and<F extends readonly CallableFunction[]>(
  ...hooks: F
): EntityHook<EntityOf<F[number]>, RequestOf<F[number]>>;
export function and(...hooks: CallableFunction[]): CallableFunction {
  return async (...args: [unknown, unknown?, unknown?]) => {
    let result: unknown = args.length === 1 ? true : args[1];
    for (const hook of hooks) {
      if (args.length > 1) args[1] = result;
      result = await hook(...args);
      if (isRejection(result, args)) return result;
    }
    return result;
  };
}

import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityOf, RequestOf } from "./hook_types.ts";
import type { EntityHook, PreFetch } from "./hooks.ts";
import { isRejection } from "./_rejection.ts";

/**
 * Composes hooks that must all pass. Each one gets what the one before it gave; the first rejection is the result.
 *
 * @typeParam E The entity.
 * @typeParam R The request.
 * @param hooks `preFetch`, `postFetch`, `preSave` or `preSend` hooks, compositions included.
 * @returns A hook of the same kind.
 *
 * @example Both conditions
 * ```ts
 * import { and, type FrameworkRequest } from "@mongrove/mongrove";
 *
 * const isUser = (req: FrameworkRequest) => req.headers["x-user"] !== undefined;
 * const isLocal = (req: FrameworkRequest) => req.ip === "127.0.0.1";
 * const isLocalUser = and(isUser, isLocal);
 * ```
 */
export function and<E, R = FrameworkRequest>(...hooks: EntityHook<E, R>[]): EntityHook<E, R>;
/** Composes `preFetch` hooks. */
export function and<R = FrameworkRequest>(...hooks: PreFetch<R>[]): PreFetch<R>;
/** Composes hooks that expect different things: the result expects all of them. */
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

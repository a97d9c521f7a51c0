import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, EntityOf, PreFetch, RequestOf } from "./hooks.ts";
import { isRejection } from "./_rejection.ts";

/**
 * Combines hooks of which at least one must pass into one hook.
 *
 * The hooks run in order, and each gets the original entity. The first hook that passes gives the result. If no hook
 * passes, the last one gives the rejection. A hook passes or rejects as for {@linkcode and}.
 *
 * @typeParam E The entity.
 * @typeParam R The request.
 * @param hooks `preFetch`, `postFetch`, `preSave` or `preSend` hooks, or combinations of them.
 * @returns A hook of the same kind.
 *
 * @example Require one of two conditions
 * ```ts
 * import { type FrameworkRequest, or } from "@mongrove/mongrove";
 *
 * const isAdmin = (req: FrameworkRequest) => req.headers["x-role"] === "admin";
 * const isLocal = (req: FrameworkRequest) => req.ip === "127.0.0.1";
 * const mayPass = or(isAdmin, isLocal);
 * ```
 */
export function or<E, R = FrameworkRequest>(...hooks: EntityHook<E, R>[]): EntityHook<E, R>;
/** Combines `preFetch` hooks of which at least one must pass. */
export function or<R = FrameworkRequest>(...hooks: PreFetch<R>[]): PreFetch<R>;
/** Combines hooks with different parameter types. The result accepts what all of them accept. */
export function or<F extends readonly CallableFunction[]>(
  ...hooks: F
): EntityHook<EntityOf<F[number]>, RequestOf<F[number]>>;
export function or(...hooks: CallableFunction[]): CallableFunction {
  return async (...args: [unknown, unknown?, unknown?]) => {
    let last: () => unknown = () => null;
    for (const hook of hooks) {
      try {
        const result: unknown = await hook(...args);
        if (!isRejection(result, args)) return result;
        last = () => result;
      } catch (error) {
        last = () => {
          throw error;
        };
      }
    }
    return last();
  };
}

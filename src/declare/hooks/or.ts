import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityOf, RequestOf } from "./hook_types.ts";
import type { EntityHook, PreFetch } from "./hooks.ts";
import { isRejection } from "./_rejection.ts";

/**
 * Composes hooks of which one must pass. Each one gets the original entity; the first that passes is the result, and
 * the rejection of the last one if none does.
 *
 * @typeParam E The entity.
 * @typeParam R The request.
 * @param hooks `preFetch`, `postFetch`, `preSave` or `preSend` hooks, compositions included.
 * @returns A hook of the same kind.
 *
 * @example Either condition
 * ```ts
 * import { type FrameworkRequest, or } from "@mongrove/mongrove";
 *
 * const isAdmin = (req: FrameworkRequest) => req.headers["x-role"] === "admin";
 * const isLocal = (req: FrameworkRequest) => req.ip === "127.0.0.1";
 * const mayPass = or(isAdmin, isLocal);
 * ```
 */
export function or<E, R = FrameworkRequest>(...hooks: EntityHook<E, R>[]): EntityHook<E, R>;
/** Composes `preFetch` hooks. */
export function or<R = FrameworkRequest>(...hooks: PreFetch<R>[]): PreFetch<R>;
/** Composes hooks that expect different things: the result expects all of them. */
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

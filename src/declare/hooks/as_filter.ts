/**
 * Wraps a hook that throws to reject an entity. The new hook returns `null` instead, so that a list leaves the entity
 * out.
 *
 * The wrapper hides every error that the hook throws, including errors caused by a bug.
 *
 * @typeParam F The hook.
 * @param hook A `postFetch` or `preSend` hook.
 * @returns A hook with the same signature.
 *
 * @example Leave out what is not public
 * ```ts
 * import { all, asFilter, FrameworkModel, type FrameworkRequest, one, prop, rest, RestError } from "@mongrove/mongrove";
 *
 * function isPublic(_req: FrameworkRequest, entity: { shown: boolean }) {
 *   if (!entity.shown) throw new RestError(403, "Not public");
 *   return entity;
 * }
 *
 * @rest({ route: "/notes", methods: [all({ postFetch: asFilter(isPublic) }), one({ postFetch: isPublic })] })
 * class Note extends FrameworkModel {
 *   @prop({ type: Boolean, default: false })
 *   shown!: boolean;
 * }
 * ```
 */
export function asFilter<F extends CallableFunction>(hook: F): F {
  const filter = async (...args: unknown[]): Promise<unknown> => {
    try {
      return await hook(...args);
    } catch {
      return null;
    }
  };
  return filter as unknown as F;
}

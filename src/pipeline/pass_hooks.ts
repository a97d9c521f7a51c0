import { andThen, runHook } from "../declare/hooks/run_hook.ts";
import type { EntityHook, HookName, MaybePromise } from "../declare/hooks/hooks.ts";
import { forbidden } from "../errors/refusals.ts";
import "../sources/entity_fields.ts";
import { checkHookValues } from "./hook_values.ts";
import { type Call, enterLevel, type LevelContext } from "./request/request_context.ts";

/**
 * Runs the `preFetch` hooks of a request, first for its parents in the path. Throws a 403 if a hook returns anything
 * but `true`, so that a forgotten `return` admits nobody.
 */
export async function passPreFetch({ levels, req }: Pick<Call, "levels" | "req">): Promise<void> {
  for (const context of levels) {
    const { preFetch } = context.level.hooks;
    enterLevel(context);
    if (preFetch !== undefined) {
      const given: unknown = await runHook("preFetch", () => preFetch(req));
      if (given === undefined) reportForgotten(context, "preFetch");
      if (given !== true) throw forbidden();
    }
    // A hook may have replaced the object `req.framework`. The filter in the new object must apply to the request, so
    // its values are copied.
    Object.assign(context.state, req.framework);
  }
}

export type EntityHookName = Exclude<HookName, "preFetch" | "fetch">;

export interface HookArguments {
  readonly entity: object;
  readonly previous?: object | undefined;
}

/**
 * Runs a hook on an entity, and returns the entity that the hook returns. Returns `undefined` if the hook rejects the
 * entity by `null`, `undefined` or `false`, so that a forgotten `return` never shows an entity.
 */
export function passHook(
  context: LevelContext,
  name: EntityHookName,
  { entity, previous }: HookArguments,
): MaybePromise<object | undefined> {
  const { level: { hooks: { [name]: given } }, req } = context;
  const hook: EntityHook<object> | undefined = given;
  if (hook === undefined) return entity;
  const run = () => previous === undefined ? hook(req, entity) : hook(req, entity, previous);
  return andThen(runHook<unknown>(name, run), (result) => {
    if (result === undefined) reportForgotten(context, name);
    if (typeof result !== "object" || result === null) return undefined;
    checkHookValues(context, { hook: name, entity: result });
    return result;
  });
}

export function reportForgotten({ route, level }: LevelContext, hook: HookName): void {
  const { operation, target } = level;
  route.reporter.reportForgotten(hook, { operation, name: target.name });
}

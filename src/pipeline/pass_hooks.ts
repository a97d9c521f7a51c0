import { andThen, runHook } from "../declare/hooks/run_hook.ts";
import type { EntityHook, HookName, MaybePromise } from "../declare/hooks/hooks.ts";
import { forbidden } from "../errors/refusals.ts";
import { checkHookValues } from "./hook_values.ts";
import { type Call, enterLevel, type LevelCall } from "./request/call.ts";

/** Runs the `preFetch` hooks of all levels, outermost first. Throws a 403 if one gives anything but `true`. */
export async function passPreFetch({ levels, req }: Pick<Call, "levels" | "req">): Promise<void> {
  for (const at of levels) {
    const { preFetch } = at.level.hooks;
    enterLevel(at);
    if (preFetch !== undefined) {
      const given: unknown = await runHook("preFetch", () => preFetch(req));
      if (given === undefined) reportForgotten(at, "preFetch");
      if (given !== true) throw forbidden();
    }
    // A hook may have replaced `req.framework`: the filter in it must bind.
    Object.assign(at.state, req.framework);
  }
}

export type EntityHookName = Exclude<HookName, "preFetch" | "fetch">;

export interface HookArguments {
  readonly entity: object;
  readonly previous?: object | undefined;
}

/** Runs a hook on an entity. `undefined` and `false` reject like `null`: a forgotten `return` never shows anything. */
export function passHook(
  at: LevelCall,
  name: EntityHookName,
  { entity, previous }: HookArguments,
): MaybePromise<object | undefined> {
  const { level: { hooks: { [name]: given } }, req } = at;
  const hook: EntityHook<object> | undefined = given;
  if (hook === undefined) return entity;
  const run = () => previous === undefined ? hook(req, entity) : hook(req, entity, previous);
  return andThen(runHook<unknown>(name, run), (result) => {
    if (result === undefined) reportForgotten(at, name);
    if (typeof result !== "object" || result === null) return undefined;
    checkHookValues(at, { hook: name, entity: result });
    return result;
  });
}

export function reportForgotten({ route, level }: LevelCall, hook: HookName): void {
  const { operation, target } = level;
  route.reporter.reportForgotten(hook, { operation, name: target.name });
}

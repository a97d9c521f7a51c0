import { forbidden } from "../errors/refusals.ts";
import type { EntityHook, HookName, MaybePromise } from "../declare/hooks/hooks.ts";
import { checkFilter } from "../filter/check_filter.ts";
import { everyFilter } from "../filter/filters.ts";
import { checkLimit } from "../filter/read_options.ts";
import { readProjection } from "../filter/projection/read_projection.ts";
import { OPERATIONS } from "../declare/operations/operation.ts";
import type { Selection } from "../filter/selection.ts";
import { andThen } from "../declare/hooks/and_then.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { enterLevel } from "./request/call.ts";
import type { Call, LevelCall } from "./request/call.ts";
import type { Level } from "./request/route.ts";

/**
 * Runs the `preFetch` hooks of all levels, outermost first.
 *
 * @throws {RestError} 403 if one gives anything but `true`.
 */
export async function passPreFetch(call: Call): Promise<void> {
  for (const levelCall of call.levels) {
    const { preFetch } = levelCall.level.hooks;
    enterLevel(call, levelCall);
    if (preFetch !== undefined) {
      const given: unknown = await runHook("preFetch", () => preFetch(call.req));
      if (given === undefined) tellForgotten(call, levelCall.level, "preFetch");
      if (given !== true) throw forbidden();
    }
    // A hook may have put a state of its own in the place of ours: the filter in it must bind.
    Object.assign(levelCall.state, call.req.framework);
  }
}

/** Evaluates the scopes of a level, and checks what hooks have made of its filter. */
export async function selectFor(call: Call, levelCall: LevelCall): Promise<Selection> {
  const { level, state } = levelCall;
  enterLevel(call, levelCall);
  if (OPERATIONS[level.operation].many) {
    checkLimit(state.options, `${level.operation}() of "${level.target.name}"`);
  }
  const scopes = [];
  for (const scope of level.scopes) {
    scopes.push(checkFilter(await runHook("scope", () => scope(call.req)), "scope"));
  }
  return {
    filter: checkFilter(state.filter, "filter"),
    scope: everyFilter(...scopes),
    options: level.hooks.lean === true ? { ...state.options, lean: true } : state.options,
    projection: readProjection(state.projection, level.shape),
  };
}

/** Whether a hook of a level has to see its entities; where none has, the database may do the whole work. */
export function hasEntityHooks({ hooks }: Level): boolean {
  return hooks.fetch !== undefined || hooks.postFetch !== undefined ||
    hooks.preSave !== undefined || hooks.persist !== undefined || hooks.preSend !== undefined;
}

/** The hooks that see one entity. */
export type EntityHookName = Exclude<HookName, "preFetch" | "fetch">;

/**
 * Runs a hook of a level on an entity. `undefined` and `false` reject like `null`: a forgotten `return` hides, it never
 * shows.
 */
export function passHook(
  call: Call,
  name: EntityHookName,
  entity: object,
  { previous, level = call.acting.level }: { previous?: object | undefined; level?: Level } = {},
): MaybePromise<object | undefined> {
  const hook: EntityHook<object> | undefined = level.hooks[name];
  if (hook === undefined) return entity;
  const { req } = call;
  const result = runHook<unknown>(
    name,
    () => previous === undefined ? hook(req, entity) : hook(req, entity, previous),
    entity,
  );
  return andThen(result, (given) => {
    if (given === undefined) tellForgotten(call, level, name);
    return typeof given === "object" && given !== null ? given : undefined;
  });
}

/** Tells the host of a hook that gave `undefined` where something was due. */
export function tellForgotten({ route }: Call, { operation, target }: Level, hook: HookName): void {
  route.reporter.tellForgotten(hook, { operation, name: target.name });
}

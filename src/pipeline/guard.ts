import { forbidden } from "../errors/refusals.ts";
import type { EntityHook, MaybePromise } from "../hooks/hooks.ts";
import { checkFilter } from "../selection/check_filter.ts";
import { checkProjection, everyFilter } from "../selection/filters.ts";
import type { Selection } from "../sources/source.ts";
import { andThen } from "../hooks/and_then.ts";
import { enterLevel } from "./call.ts";
import type { Call, LevelCall } from "./call.ts";
import type { Level } from "./route.ts";

/**
 * Runs the `preFetch` hooks of all levels, outermost first.
 *
 * @throws {RestError} 403 if one gives anything but `true`.
 */
export async function passPreFetch(call: Call): Promise<void> {
  for (const levelCall of call.levels) {
    const { preFetch } = levelCall.level.hooks;
    enterLevel(call, levelCall);
    if (preFetch !== undefined && await preFetch(call.req) !== true) throw forbidden();
    // A hook may have put a state of its own in the place of ours: the filter in it must bind.
    Object.assign(levelCall.state, call.req.framework);
  }
}

/** Evaluates the scopes of a level, and checks what hooks have made of its filter. */
export async function selectFor(call: Call, levelCall: LevelCall): Promise<Selection> {
  const { level, state } = levelCall;
  enterLevel(call, levelCall);
  const scopes = [];
  for (const scope of level.scopes) scopes.push(checkFilter(await scope(call.req), "scope"));
  return {
    filter: checkFilter(state.filter, "filter"),
    scope: everyFilter(...scopes),
    options: level.hooks.lean === true ? { ...state.options, lean: true } : state.options,
    projection: checkProjection(state.projection),
  };
}

/** Whether a hook of a level has to see its entities; where none has, the database may do the whole work. */
export function hasEntityHooks({ hooks }: Level): boolean {
  return hooks.fetch !== undefined || hooks.postFetch !== undefined ||
    hooks.preSave !== undefined || hooks.persist !== undefined || hooks.preSend !== undefined;
}

/** Runs a hook on an entity. `undefined` and `false` reject like `null`: a forgotten `return` hides, it never shows. */
export function passHook(
  hook: EntityHook<object> | undefined,
  { req }: Call,
  entity: object,
  previous?: object,
): MaybePromise<object | undefined> {
  if (hook === undefined) return entity;
  const result = previous === undefined ? hook(req, entity) : hook(req, entity, previous);
  return andThen<unknown, object | undefined>(result, orRejected);
}

function orRejected(result: unknown): object | undefined {
  return typeof result === "object" && result !== null ? result : undefined;
}

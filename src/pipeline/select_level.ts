import { runHook } from "../declare/hooks/run_hook.ts";
import { OPERATIONS } from "../declare/operations/operation.ts";
import { checkFilter } from "../filter/check_filter.ts";
import { everyFilter } from "../filter/filters.ts";
import { readProjection } from "../filter/projection.ts";
import { checkLimit } from "../filter/read_options.ts";
import type { Selection } from "../filter/selection.ts";
import { enterLevel } from "./request/call.ts";
import type { LevelCall } from "./request/call.ts";

/** Evaluates the scopes of a level, and checks what hooks have made of its filter. */
export async function selectLevel(at: LevelCall): Promise<Selection> {
  const { level, state, req } = at;
  enterLevel(at);
  if (OPERATIONS[level.operation].many) {
    checkLimit(state.options, `${level.operation}() of "${level.target.name}"`);
  }
  const scopes = [];
  for (const scope of level.scopes) {
    scopes.push(checkFilter(await runHook("scope", () => scope(req)), "scope"));
  }
  return {
    filter: checkFilter(state.filter, "filter"),
    scope: everyFilter(...scopes),
    options: level.hooks.lean === true ? { ...state.options, lean: true } : state.options,
    projection: readProjection(state.projection, level.shape),
  };
}

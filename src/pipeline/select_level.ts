import { runHook } from "../declare/hooks/run_hook.ts";
import { OPERATIONS } from "../declare/operations/operation.ts";
import { checkFilter } from "../filter/check_filter.ts";
import { everyFilter } from "../filter/filters.ts";
import { readProjection } from "../filter/projection.ts";
import { sortable, totalOrder } from "../filter/parameters/total_order.ts";
import { checkLimit, readSort } from "../filter/selection.ts";
import type { Selection } from "../filter/selection.ts";
import { enterLevel } from "./request/call.ts";
import { versionCondition } from "./request/versions.ts";
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
  const filter = checkFilter(state.filter, "filter");
  const { search, added } = at.asked;
  const options = optionsOf(at);
  return {
    filter: search === undefined ? filter : everyFilter(filter, search),
    // Copies of the client's conditions would count as additions.
    ...added && { added: checkFilter(added(state.filter), "filter") },
    scope: everyFilter(...scopes),
    ...!level.link?.embedded && { version: versionCondition(at) },
    ...OPERATIONS[level.operation].many &&
      { sortable: sortable(readSort(options.sort) ?? {}, level.shape) },
    options,
    projection: readProjection(state.projection, level.shape),
  };
}

/** The options of hooks, with the order that the client asks for. Pages take their limits from what is asked. */
function optionsOf({ asked, level, state }: LevelCall): Record<string, unknown> {
  const { skip, limit: _limit, ...others } = state.options;
  const lean = level.hooks.lean === true && { lean: true };
  const { page, order } = asked;
  if (page === undefined) return { ...state.options, ...order && { sort: order }, ...lean };
  if (skip !== undefined && skip !== null) {
    throw new TypeError(
      `Cannot use options.skip of a hook of ${level.operation}() of "${level.target.name}": it has pages`,
    );
  }
  return { ...others, sort: pageOrder({ asked, state }), ...lean };
}

/** The order of a page: what the client asks for, or else the hooks. */
export function pageOrder(
  { asked: { order }, state }: Pick<LevelCall, "asked" | "state">,
): Readonly<Record<string, unknown>> {
  return totalOrder(order ?? readSort(state.options.sort) ?? {});
}

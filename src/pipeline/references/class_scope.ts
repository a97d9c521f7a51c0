import { runHook } from "../../declare/hooks/run_hook.ts";
import { scopesOf } from "../../declare/model/describe_model.ts";
import { checkFilter } from "../../filter/check_filter.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import type { LevelCall } from "../request/call.ts";
import { foreignRequest } from "../request/foreign_request.ts";
import type { ReferredModel } from "./referred_model.ts";

/** Evaluates the scopes of all `@rest` on a class whose entities a request reads besides its own. */
export async function classScope(
  { req }: LevelCall,
  { model, target }: ReferredModel,
): Promise<Filter> {
  if (target === undefined) return {};
  const { parent: _parent, ...state } = req.framework;
  // To the scopes, the request is a read of their own model.
  const request = foreignRequest(req, {
    ...state,
    ...{ filter: {}, options: {}, projection: {}, operation: "one" },
    model: () => Promise.resolve(model as never),
  });
  const scopes: Filter[] = [];
  for (const scope of scopesOf(target)) {
    scopes.push(checkFilter(await runHook("scope", () => scope(request)), "scope"));
  }
  return everyFilter(...scopes);
}

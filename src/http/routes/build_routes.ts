import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/model_class.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { describeParts } from "../../schema/describe_parts.ts";
import { branchRoutes, isSame } from "./_branch_routes.ts";
import type { Branch, SharedSettings } from "./_branch_routes.ts";
import { cannotMount, checkRest } from "./_check_rest.ts";
import { RouteRegister } from "./_route_register.ts";

export type RouteSettings = Omit<SharedSettings, "getConnection">;

/**
 * Builds the routes of models, those without parameters first, so that no `/:id` takes what another model serves.
 *
 * @throws {TypeError} If a declaration is wrong.
 */
export function buildRoutes(models: readonly ModelClass[], settings: RouteSettings): Route[] {
  if (models.length === 0) {
    throw new TypeError("Cannot initialize: no model is registered, import them first");
  }
  if (models.some((target) => typeof target !== "function")) {
    throw new TypeError(`Cannot initialize: "models" contains something that is not a model class`);
  }
  const register = new RouteRegister();
  const routes = models.flatMap((target) => {
    const { rests } = describeModel(target);
    if (rests.length === 0) throw cannotMount(target, "it has no @rest");
    register.claimCollection(target);
    const own = rests.flatMap((rest) => {
      const { getConnection } = rest;
      return branchRoutes(rootBranch(target, rest), {
        ...settings,
        ...getConnection && { getConnection },
      });
    });
    for (const route of own) register.claimPath(target, route);
    return own;
  });
  checkReached(routes);
  const parameters = ({ path }: Route) => path.split("/:").length;
  return routes.sort((a, b) => parameters(a) - parameters(b));
}

function rootBranch(target: ModelClass, rest: RestRecord): Branch {
  const { methods, scope, concurrency } = rest;
  const path = checkRest(target, rest);
  return {
    methods,
    base: path === "" ? "/" : path,
    item: `${path}/:id`,
    above: [],
    level: { target, scopes: scope === undefined ? [] : [scope], parameter: "id", concurrency },
  };
}

/** Checks that a route reaches every part: without `one()` on its parent, none does. */
function checkReached(routes: readonly Route[]): void {
  const levels = routes.flatMap((route) => route.levels);
  for (const owner of new Set(levels.map(({ target }) => target))) {
    const elsewhere = describeModel(owner).rests.some((rest) =>
      rest.methods.some(({ operation }) => operation === "one")
    );
    for (const part of elsewhere ? [] : describeParts(owner)) {
      if (levels.some((level) => isSame(level, part))) continue;
      const { property } = part.link;
      throw cannotMount(owner, `property "${property}" has @rest, which needs one() on its parent`);
    }
  }
}

import { describeModel } from "../../declare/model/describe_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/model_class.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import type { Level, Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { getModel } from "../../schema/get_model.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { buildPartRoutes, checkReached } from "./build_part_routes.ts";
import { checkFunctions, checkMethods, checkPath, RouteRegister } from "./_check_routes.ts";

/** What all routes of one `initialize()` share. */
export type RouteSettings = Pick<
  Route,
  "maxTimeMS" | "limits" | "bodyLimits" | "indexes" | "reporter"
>;

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
    throw new TypeError(`Cannot initialize: "models" holds what is no model class`);
  }
  const register = new RouteRegister();
  const routes = models.flatMap((target) => routesOf(target, settings, register));
  checkReached(routes);
  const parameters = ({ path }: Route) => path.split("/:").length;
  return routes.sort((a, b) => parameters(a) - parameters(b));
}

function routesOf(
  target: ModelClass,
  settings: RouteSettings,
  register: RouteRegister,
): Route[] {
  const { rests } = describeModel(target);
  if (rests.length === 0) throw new TypeError(`Cannot mount "${target.name}": it has no @rest`);
  const { schema } = buildSchema(target);
  register.claimCollection(target, schema);
  if (rests.some((rest) => rest.getConnection === undefined)) getModel(target);
  const routes = rests.flatMap((rest) => routesUnder(target, rest, settings));
  for (const route of routes) register.claimPath(target, route);
  return routes;
}

function routesUnder(target: ModelClass, rest: RestRecord, settings: RouteSettings): Route[] {
  const base = checkPath(target, rest.route);
  checkMethods(target, rest.methods);
  checkFunctions(target, rest);
  const shared = { ...rest.getConnection && { getConnection: rest.getConnection }, ...settings };
  const own = rest.methods.map((method): Route => {
    const operation = OPERATIONS[method.operation];
    return {
      path: operation.item ? itemPath(base) : base,
      operation,
      levels: [rootLevel(target, rest, method)],
      ...shared,
    };
  });
  const one = rest.methods.find(({ operation }) => operation === "one");
  const above = one && { path: itemPath(base), levels: [rootLevel(target, rest, one)] };
  return [...own, ...buildPartRoutes(target, above, shared)];
}

function itemPath(base: string): string {
  return `${base === "/" ? "" : base}/:id`;
}

function rootLevel(target: ModelClass, rest: RestRecord, { operation, hooks }: Method): Level {
  return {
    target,
    shape: describeShape(buildSchema(target).schema),
    operation,
    hooks: hooks as Hooks<object>,
    scopes: rest.scope === undefined ? [] : [rest.scope],
    parameter: "id",
  };
}

import { actingLevel } from "../../../pipeline/request/route.ts";
import type { Route } from "../../../pipeline/request/route.ts";
import { buildSchema } from "../../../schema/build_schema.ts";
import type { ErrorDescription } from "./describe_routes.ts";

/** Describes the errors that the framework can answer at a route. */
export function describeErrors(route: Route): ErrorDescription[] {
  const { operation: { change, item } } = route;
  const { operation, concurrency } = actingLevel(route);
  const isMerge = change === "merge";
  const changesOne = item && change !== undefined || operation === "update" ||
    operation === "remove";
  const errors: [number, string, boolean][] = [
    [400, "BAD_FORMAT", true],
    [400, "BAD_DATA", isMerge],
    [403, "FORBIDDEN", canForbid(route)],
    [404, "NOT_FOUND", item || route.levels.length > 1 || route.path.includes(":")],
    [409, "CONFLICT", changesOne || change !== undefined && canClash(route)],
    [412, "PRECONDITION_FAILED", changesOne],
    [415, "UNSUPPORTED_MEDIA_TYPE", isMerge],
    [428, "PRECONDITION_REQUIRED", changesOne && concurrency === "required"],
    [500, "INTERNAL", true],
    [503, "UNAVAILABLE", true],
  ];
  const possible = errors.filter(([, , isPossible]) => isPossible);
  const statuses = new Set(possible.map(([status]) => status));
  return [...statuses].map((status) => ({
    status,
    codes: possible.filter(([each]) => each === status).map(([, code]) => code),
  }));
}

function canForbid(route: Route): boolean {
  const { hooks, scopes } = actingLevel(route);
  return route.levels.some((level) => level.hooks.preFetch !== undefined) ||
    hooks.preSave !== undefined || (route.operation.change === "merge" && scopes.length > 0);
}

/** Whether what is stored already, or another request, can prevent a write, or the removal of parts. */
function canClash(route: Route): boolean {
  const { target, link } = actingLevel(route);
  if (route.operation.change !== "merge") return link !== undefined;
  const indexes = buildSchema(target).schema.indexes();
  return link !== undefined || indexes.some(([, options]) => options.unique);
}

import { describeFields } from "../../../schema/describe/describe_fields.ts";
import { listPaths } from "../../../filter/q/describe_filter.ts";
import type { RouteDescription } from "./description.ts";
import type { RouteNode } from "./route_node.ts";

/** Describes routes as data, in the order in which they are mounted. */
export function describeRoutes(routes: readonly RouteNode[]): RouteDescription[] {
  return routes.map(describeRoute);
}

/** Writes a route on one line, such as `GET    /movies/:id  one  Movie`. */
export function printRoute(
  { method, path, operation, model }: Pick<
    RouteDescription,
    "method" | "path" | "operation" | "model"
  >,
): string {
  return `${method.padEnd(6)} ${path}  ${operation}  ${model}`;
}

function describeRoute(route: RouteNode): RouteDescription {
  const { body, answer, filter, words, ...others } = route;
  const { isHooked: _isHooked, many: _many, count: _count, ...node } = others;
  return {
    ...node,
    ...words,
    ...filter && { filter: { fields: listPaths(filter.object), limits: filter.limits } },
    ...body && { body: describeFields(body) },
    answer: answer === undefined ? [] : describeFields(answer.object),
  };
}

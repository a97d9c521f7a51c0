import type { RouteNode } from "./route_node.ts";
import { describeOperation } from "./operation.ts";
import type { OpenApiOptions } from "./options.ts";
import { Components } from "./schemas/components.ts";

const VERSIONS = { "3.1": "3.1.1", "3.2": "3.2.0" } as const;

/**
 * Builds the OpenAPI document. The keys of `routes` are the routes, whose paths have the form of OpenAPI. The values
 * are their operation IDs.
 */
export function buildDocument(
  routes: ReadonlyMap<RouteNode, string>,
  { info, servers = [{ url: "." }], security, securitySchemes, ...options }: OpenApiOptions,
): object {
  const { q = "content", version = "3.1" } = options;
  const limits = [...routes.keys()].find(({ filter }) => filter !== undefined)?.filter?.limits;
  const isStrict = [...routes.keys()].some((route) => route.isStrict);
  const components = new Components(limits, isStrict);
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, operationId] of routes) {
    const item = paths[route.path] ??= {};
    if (route.isQuery && version !== "3.2") continue;
    const method = route.isQuery ? "query" : route.method.toLowerCase();
    item[method] = describeOperation(route, { components, operationId, q });
  }
  return {
    openapi: VERSIONS[version],
    info,
    servers,
    ...security && { security },
    paths,
    components: {
      ...components.toJSON(),
      ...securitySchemes && { securitySchemes },
    },
  };
}

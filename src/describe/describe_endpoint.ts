import { pathKey, pathParameters } from "./paths.ts";
import type { RouteDescription } from "./describe_route.ts";
import { statusOf } from "../pipeline/plugins/plugin_endpoints.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import type { Route } from "../pipeline/request/route.ts";

export function describeEndpoint(
  { plugin, route, path, description }: Endpoint,
): RouteDescription[] {
  if (plugin === undefined || route === undefined) return [];
  const { method, operation, body, answer, summary } = route;
  return [{
    method,
    path,
    operation,
    model: plugin,
    parameters: [
      ...pathParameters(path).map((name) => ({ name, in: "path", required: true } as const)),
      ...Object.keys(description.parameters ?? {}).map((
        name,
      ) => ({ name, in: "query", required: false } as const)),
    ],
    headers: [],
    ...body && { body: [], bodySchema: body as Readonly<Record<string, unknown>> },
    answer: [],
    ...answer && { answerSchema: answer as Readonly<Record<string, unknown>> },
    status: statusOf(route),
    errors: [],
    hooks: [],
    summary,
    ...description.deprecated && { deprecated: true },
    access: [description.isGuarded ? "guard" : "everybody"],
  }];
}

/** An endpoint would hide a route with the same path, because it is mounted first. */
export function checkEndpoints(endpoints: readonly Endpoint[], routes: readonly Route[]): void {
  const owners = new Map(
    routes.map(({ path, operation: { verb } }) => [`${verb} ${pathKey(path)}`, path]),
  );
  for (const { method, path, description: { tag, operationId } } of endpoints) {
    const key = `${method} ${pathKey(path)}`;
    if (owners.has(key)) {
      throw new TypeError(
        `Cannot initialize: the path ${path} of "${tag ?? operationId}" is taken`,
      );
    }
    owners.set(key, path);
  }
}

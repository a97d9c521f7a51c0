import type { RouteNode } from "../http/routes/describe_routes.ts";
import { describeOperation } from "./operation.ts";
import type { OpenApiOptions } from "./options.ts";
import { Components } from "./schemas/components.ts";
import { errorResponse } from "./responses.ts";

/** Builds the OpenAPI document of routes. */
export function buildDocument(
  routes: readonly RouteNode[],
  { info, servers = [{ url: "./" }], security, securitySchemes }: OpenApiOptions,
): object {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    const item = paths[path] ??= {};
    item[route.method.toLowerCase()] = describeOperation(route, components);
  }
  return {
    openapi: "3.1.1",
    info,
    servers,
    ...security && { security },
    paths,
    components: {
      schemas: components.schemas(),
      responses: { Error: errorResponse() },
      ...securitySchemes && { securitySchemes },
    },
  };
}

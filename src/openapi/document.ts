import type { RouteNode } from "./route_node.ts";
import type { Endpoint, EndpointDescription } from "../pipeline/router_feature.ts";
import { capitalize } from "./operation_ids.ts";
import { describeOperation } from "./operation.ts";
import type { OpenApiOptions } from "./options.ts";
import { describeTags } from "./words/tags.ts";
import { Components } from "./schemas/components.ts";

const HERE = { url: "." } as const;

const VERSIONS = { "3.1": "3.1.1", "3.2": "3.2.0" } as const;

export interface DescribedApi {
  readonly routes: ReadonlyMap<RouteNode, string>;
  readonly endpoints: readonly Endpoint[];
}

export function buildDocument(
  { routes, endpoints }: DescribedApi,
  { info, servers = [HERE], security, securitySchemes, ...options }: OpenApiOptions,
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
  for (const { path, method, description } of endpoints) {
    paths[path] = { [method]: describeEndpoint(description) };
  }
  return {
    openapi: VERSIONS[version],
    info,
    servers,
    ...security && { security },
    tags: describeTags(
      routes.keys(),
      endpoints.map(({ path, description: { operationId } }) => [capitalize(operationId), path]),
    ),
    paths,
    components: {
      ...components.toJSON(),
      ...securitySchemes && { securitySchemes },
    },
  };
}

function describeEndpoint(
  { operationId, summary, description, body, answers }: EndpointDescription,
): object {
  const contentOf = (schema: object) => ({ "application/json": { schema } });
  return {
    operationId,
    tags: [capitalize(operationId)],
    summary,
    description,
    requestBody: { required: true, content: contentOf(body) },
    responses: Object.fromEntries(
      Object.entries(answers).map((
        [status, { description, schema }],
      ) => [status, { description, content: contentOf(schema) }]),
    ),
  };
}

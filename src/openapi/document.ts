import type { RouteNode } from "./route_node.ts";
import type { Endpoint, EndpointDescription } from "../pipeline/router_feature.ts";
import type { PluginSet } from "../pipeline/plugins/plugin_set.ts";
import { pathParameters } from "../describe/paths.ts";
import { templateOf } from "./path_templates.ts";
import { capitalize } from "./operation_ids.ts";
import { describeOperation } from "./operation.ts";
import type { OpenApiOptions } from "./options.ts";
import { otherErrors } from "./responses/errors.ts";
import { describeTags } from "./words/tags.ts";
import { Components } from "./schemas/components.ts";

const HERE = { url: "." } as const;

const VERSIONS = { "3.1": "3.1.1", "3.2": "3.2.0" } as const;

export interface DescribedApi {
  readonly routes: ReadonlyMap<RouteNode, string>;
  readonly endpoints: readonly Endpoint[];
  readonly plugins: PluginSet | undefined;
}

export function buildDocument(
  { routes, endpoints, plugins }: DescribedApi,
  { info, servers = [HERE], ...options }: OpenApiOptions,
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
    const template = templateOf(path);
    const item = paths[template] ??= {};
    item[method] = describeEndpoint(description, { components, parameters: pathParameters(path) });
  }
  const { security, securitySchemes } = securityOf(plugins, options);
  return {
    openapi: VERSIONS[version],
    info,
    servers,
    ...security && { security },
    tags: describeTags(
      routes.keys(),
      endpoints.map(({ path, description }) => [tagOf(description), templateOf(path)]),
    ),
    paths,
    components: {
      ...components.toJSON(),
      ...securitySchemes && { securitySchemes },
    },
  };
}

type Security = Pick<OpenApiOptions, "security" | "securitySchemes">;

/** A client may use a plugin's security scheme instead of the application's schemes. */
function securityOf(plugins: PluginSet | undefined, given: Security): Security {
  const own = Object.assign({}, ...(plugins?.all ?? []).map((each) => each.securitySchemes));
  const { security, securitySchemes } = given;
  if (Object.keys(own).length === 0) return given;
  return {
    security: [...security ?? [{}], ...Object.keys(own).map((name) => ({ [name]: [] }))],
    securitySchemes: { ...own, ...securitySchemes },
  };
}

function tagOf({ tag, operationId }: EndpointDescription): string {
  return capitalize(tag ?? operationId);
}

function describeEndpoint(
  endpoint: EndpointDescription,
  { components, parameters }: {
    readonly components: Components;
    readonly parameters: readonly string[];
  },
): object {
  const { operationId, summary, description, body, answers, isOpen, deprecated } = endpoint;
  const { parameters: inQuery = {} } = endpoint;
  const all = [
    ...parameters.map((name) => {
      return { name, in: "path", required: true, schema: { type: "string" } };
    }),
    ...Object.entries(inQuery).map(([name, { text, schema }]) => {
      return { name, in: "query", description: text, schema };
    }),
  ];
  const contentOf = (schema: object) => ({ content: { "application/json": { schema } } });
  return {
    operationId,
    tags: [tagOf(endpoint)],
    summary,
    ...description !== undefined && { description },
    ...deprecated && { deprecated },
    ...isOpen && { security: [] },
    ...all.length > 0 && { parameters: all },
    ...body && { requestBody: { required: needsBody(body), ...contentOf(body) } },
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map((
          [status, { description, schema }],
        ) => [status, { description, ...schema && contentOf(schema) }]),
      ),
      ...answers.default === undefined && { "4XX": otherErrors(components) },
    },
  };
}

function needsBody(schema: object): boolean {
  const { required = [] } = schema as { readonly required?: readonly string[] };
  return required.length > 0;
}

import type { RouteNode } from "../route_node.ts";
import type { Components } from "../schemas/components.ts";
import type { JsonSchema } from "../schemas/json_schema.ts";
import { describeError, otherErrors } from "./errors.ts";
import { headersOf } from "./headers.ts";

export function describeResponses(
  route: RouteNode,
  components: Components,
): Record<string, object> {
  const errors = route.errors.map((error) =>
    [error.status, describeError(error, { route, components })] as const
  );
  return {
    ...describeSuccess(route, components),
    ...Object.fromEntries(errors),
    default: otherErrors(components),
  };
}

const DONE: Readonly<Record<RouteNode["operation"], string>> = {
  all: "The list",
  one: "The entity",
  create: "The new entity",
  update: "The entity as it is now",
  remove: "Removed",
  removeAll: "Removed",
};

function describeSuccess(route: RouteNode, components: Components): Record<string, object> {
  const { answer, status, many, operation, hooks } = route;
  const description = DONE[operation];
  if (answer === undefined) return { [status]: { description } };
  const entity = components.entity(answer);
  const headers = headersOf(route);
  const schema: JsonSchema = many ? { type: "array", items: entity } : entity;
  const hidden = (operation === "create" || operation === "update") && hooks.includes("preSend");
  return {
    [status]: {
      description,
      ...Object.keys(headers).length > 0 && { headers },
      content: { "application/json": { schema, ...exampleOf(route) } },
    },
    ...route.method === "GET" && { 304: unchanged(headers) },
    ...hidden && { 204: { description: "Done. A hook hides the entity" } },
  };
}

function unchanged({ ETag }: ReturnType<typeof headersOf>): object {
  return { description: "The same as what the client has", ...ETag && { headers: { ETag } } };
}

/** The example of a write is that of its body. */
function exampleOf({ method, many, words: { example } }: RouteNode): object {
  if (example === undefined || method !== "GET") return {};
  return { example: many ? [example] : example };
}

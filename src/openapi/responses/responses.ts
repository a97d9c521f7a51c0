import { isOperationName } from "../../declare/operations/operation.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import { capitalize } from "../operation_ids.ts";
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

const DONE: Readonly<Record<OperationName, string>> = {
  all: "The list",
  one: "The entity",
  create: "The new entity",
  update: "The entity as it is now",
  remove: "Removed",
  removeAll: "Removed",
  updateAll: "How many are changed",
  replace: "The entity as it is now",
};

function describeSuccess(route: RouteNode, components: Components): Record<string, object> {
  const { status, many, operation, hooks } = route;
  const isAction = !isOperationName(operation);
  const description = isAction ? "What the action answers" : DONE[operation];
  const answer = describeAnswer(route, components);
  if (answer === undefined) return { [status]: { description } };
  const headers = headersOf(route);
  const schema: JsonSchema = many ? { type: "array", items: answer } : answer;
  const hidden = (operation === "create" || operation === "update") && hooks.includes("preSend");
  return {
    [status]: {
      description,
      ...Object.keys(headers).length > 0 && { headers },
      content: { "application/json": { schema, ...exampleOf(route) } },
    },
    ...route.method === "GET" && { 304: unchanged(headers) },
    ...isAction && { 204: { description: "Done. There is nothing to answer" } },
    ...hidden && { 204: { description: "Done. A hook hides the entity" } },
  };
}

function describeAnswer(route: RouteNode, components: Components): JsonSchema | undefined {
  const { answer, answerSchema, model, operation } = route;
  if (answer !== undefined) return components.entity(answer);
  return answerSchema && components.given(answerSchema, `${model}${capitalize(operation)}Answer`);
}

function unchanged({ ETag }: ReturnType<typeof headersOf>): object {
  return { description: "The same as what the client has", ...ETag && { headers: { ETag } } };
}

/** The example of a write is that of its body. */
function exampleOf({ method, operation, many, words: { example } }: RouteNode): object {
  if (example === undefined || method !== "GET" || !isOperationName(operation)) return {};
  return { example: many ? [example] : example };
}

import { isOperationName, type OperationName } from "../../declare/operations/operation.ts";
import { capitalize } from "../operation_ids.ts";
import type { RouteNode } from "../route_node.ts";
import { alternativesOf } from "../schemas/alternative_schema.ts";
import type { Components } from "../schemas/components.ts";
import { type JsonSchema, withSchemas } from "../schemas/json_schema.ts";
import { describeError, describeResults, otherErrors } from "./errors.ts";

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
  create: "The new entity. It is left out after `Prefer: return=minimal`",
  update: "The entity after the write",
  remove: "The entity is removed",
  removeAll: "The entities are removed",
  updateAll: "The number of changed entities",
  replace: "The entity after the write",
};

function describeSuccess(route: RouteNode, components: Components): Record<string, object> {
  const { status, operation, hooks, writes, facts, bytes } = route;
  const isAction = !isOperationName(operation);
  const description = isAction ? "The answer of the action" : DONE[operation];
  const answer = describeAnswer(route, components);
  const named = headersOf(route);
  const headers = Object.keys(named).length > 0 && { headers: named };
  if (bytes?.answer !== undefined) {
    const answers = { [status]: "The file", ...bytes.statuses };
    const content = withSchemas(bytes.answer);
    const described = Object.entries(answers).map(([each, text]) =>
      [each, { description: text, ...headers, content }] as const
    );
    return { ...Object.fromEntries(described), 304: unchanged(named) };
  }
  if (answer === undefined) return { [status]: { description, ...headers } };
  const others = alternativesOf(route, components);
  const list = listed(answer, route);
  const schema = others.length === 0 ? list : { anyOf: [list, ...others] };
  const content = {
    "application/json": { schema, ...exampleOf(route) },
    ...withSchemas(facts.answer.content),
  };
  const isMinimal = route.headers.some(({ preferences }) =>
    preferences?.includes("return=minimal")
  );
  const reasons = [
    isAction && "The action has no answer",
    isMinimal && operation !== "create" && "`Prefer: return=minimal` asks for no body",
    isMinimal && hooks.includes("preSend") && "A hook hides the entity",
  ].filter((reason) => reason !== false);
  const hasResults = operation === "updateAll" && writes?.atomic === false ||
    Object.keys(facts.answer.results).length > 0;
  return {
    [status]: { description, ...headers, content },
    ...operation === "replace" && { 201: { description: "The new entity", ...headers, content } },
    ...route.method === "GET" && { 304: unchanged(named) },
    ...reasons.length > 0 &&
      { 204: { description: `Done. ${reasons.join(". ")}`, ...isMinimal && headers } },
    ...hasResults && { 207: describeResults(components, route) },
  };
}

function listed(answer: JsonSchema, { many, facts }: RouteNode): JsonSchema {
  const list = { type: "array", items: answer };
  if (many) return list;
  return facts.body.maxItems === undefined ? answer : { oneOf: [answer, list] };
}

function describeAnswer(route: RouteNode, components: Components): JsonSchema | undefined {
  const { answer, answerSchema, model, operation } = route;
  if (answer !== undefined) return components.entity(answer);
  return answerSchema && components.given(answerSchema, `${model}${capitalize(operation)}Answer`);
}

function unchanged({ ETag }: ReturnType<typeof headersOf>): object {
  return {
    description: "The answer has not changed since the client read it",
    ...ETag && { headers: { ETag } },
  };
}

/** The example of a write describes its request body, and not its answer. */
function exampleOf({ method, operation, many, words: { example } }: RouteNode): object {
  if (example === undefined || method !== "GET" || !isOperationName(operation)) return {};
  return { example: many ? [example] : example };
}

interface Header {
  readonly description: string;
  readonly schema: object;
}

const TEXT = { type: "string" };

const APPLIED: Header = {
  description: "The preferences of `Prefer` that the server has applied",
  schema: TEXT,
};

function headersOf(route: RouteNode): Record<string, Header> {
  const { operation, answer, headers, facts, answerHeaders } = route;
  const applied = headers.some(({ name }) => name === "Prefer") &&
    { "Preference-Applied": APPLIED };
  if (answer?.object.view !== "answer") return { ...answerHeaders, ...applied };
  return {
    ETag: {
      description: operation === "all"
        ? "The version of the list, for `If-None-Match`. Long lists have none"
        : "The version of the entity, for `If-Match`",
      schema: TEXT,
    },
    ...["create", "replace"].includes(operation) && {
      Location: { description: "The path of the entity", schema: TEXT },
    },
    ...facts.answer.headers,
    ...applied,
  };
}

import { capitalize } from "./operation_ids.ts";
import type { RouteNode } from "./route_node.ts";
import type { OpenApiOptions } from "./options.ts";
import { describeHeader, describeMember, describeParameter } from "./parameters.ts";
import { describeResponses } from "./responses/responses.ts";
import { withSchemas } from "./schemas/json_schema.ts";
import type { Components } from "./schemas/components.ts";
import { summarize } from "./words/summaries.ts";
import { tagsOf } from "./words/tags.ts";

export interface DocumentContext {
  readonly components: Components;
  readonly operationId: string;
  readonly q: NonNullable<OpenApiOptions["q"]>;
}

export function describeOperation(
  route: RouteNode,
  { components, operationId, q }: DocumentContext,
): object {
  const { body, bodySchema, words, bytes } = route;
  const { summary = summarize(route) } = words;
  const inBody = route.parameters.filter((each) => route.isQuery && each.in === "query");
  const parameters = [
    ...route.parameters.filter((each) => !inBody.includes(each))
      .map((each) => describeParameter(each, { route, components, q })),
    ...route.headers.map((each) => describeHeader(each, route)),
  ];
  return {
    operationId,
    tags: tagsOf(route),
    summary,
    ...words.description !== undefined && { description: words.description },
    ...words.deprecated && { deprecated: true },
    ...route.isOpen && { security: [] },
    ...parameters.length > 0 && { parameters },
    ...(body ?? bodySchema) && { requestBody: describeBody(route, components) },
    ...route.isQuery && { requestBody: describeParametersInBody(inBody, { route, components }) },
    ...bytes?.body && {
      requestBody: {
        description: `A file of at most ${bytes.maxBytes} bytes, or a form with this file alone`,
        required: true,
        content: bytes.body,
      },
    },
    responses: describeResponses(route, components),
  };
}

function describeParametersInBody(
  inBody: RouteNode["parameters"],
  { route, components }: { readonly route: RouteNode; readonly components: Components },
) {
  const properties = Object.fromEntries(
    inBody.map(({ name }) => [name, describeMember(name, { route, components })]),
  );
  return {
    required: true,
    content: { "application/json": { schema: { type: "object", properties } } },
  };
}

const PATCH =
  "A JSON merge patch (RFC 7396): absent fields keep their values, and null clears a field";

const BODIES: Readonly<Record<string, string>> = {
  update: PATCH,
  updateAll: PATCH,
  replace: "The new values of the entity. Absent fields are cleared",
};

function describeBody(route: RouteNode, components: Components) {
  const { body, bodySchema, operation, model, words: { example }, facts } = route;
  const schema = body ? components.object(body) : bodySchema &&
    components.given(bodySchema, `${model}${capitalize(operation)}Body`);
  const { maxItems } = facts.body;
  const description = Object.hasOwn(BODIES, operation) ? BODIES[operation] : undefined;
  return {
    ...description !== undefined && { description },
    required: true,
    content: {
      "application/json": {
        schema: maxItems === undefined
          ? schema
          : { oneOf: [schema, { type: "array", items: schema, maxItems }] },
        ...example !== undefined && { example },
      },
      ...withSchemas(facts.body.content),
    },
  };
}

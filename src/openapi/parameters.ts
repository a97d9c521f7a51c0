import type { HeaderDescription, ParameterDescription } from "../describe/describe_route.ts";
import type { RouteNode } from "./route_node.ts";
import type { OpenApiOptions } from "./options.ts";
import type { Components } from "./schemas/components.ts";
import { filterExample } from "./schemas/filters/filter_example.ts";
import type { FilterNode } from "./schemas/filters/filter_node.ts";
import type { JsonSchema } from "./schemas/json_schema.ts";

const JSON_TYPE = "application/json";

interface ParameterContext {
  readonly route: RouteNode;
  readonly components: Components;
  readonly q: NonNullable<OpenApiOptions["q"]>;
}

export function describeParameter(
  parameter: ParameterDescription,
  { route, components, q }: ParameterContext,
): object {
  const { name, required } = parameter;
  const place = { name, in: parameter.in, required };
  if (parameter.in === "path") {
    const by = name === "id" ? route.writes?.by ?? "_id" : "_id";
    const description = `The \`${by}\` of the entity.`;
    return { ...place, description, schema: ID_SCHEMAS[parameter.idType ?? "String"] };
  }
  if (name === "q" && route.filter) {
    const { object, limits } = route.filter;
    const schema = components.filter(object);
    const example = exampleOf(object, route);
    return {
      ...place,
      description: filterText(limits),
      ...q === "content" ? { content: { [JSON_TYPE]: { schema, example } } } : {
        schema: { type: "string", contentMediaType: JSON_TYPE, contentSchema: schema },
        example: JSON.stringify(example),
      },
    };
  }
  return { ...place, ...describeQuery(name, route) };
}

const ID_SCHEMAS = {
  String: { type: "string" },
  Number: { type: "number" },
  UUID: { type: "string", format: "uuid" },
} as const;

function filterText(
  { maxClauses, maxDepth, maxList, maxRegex }: NonNullable<RouteNode["filter"]>["limits"],
): string {
  return `A filter in the query language of MongoDB. It has at most ${maxClauses} conditions, ` +
    `${maxDepth} levels, ${maxList} values in a list, and ${maxRegex} characters in a regular ` +
    "expression.";
}

export function describeMember(
  name: string,
  { route, components }: Pick<ParameterContext, "route" | "components">,
): JsonSchema {
  if (name === "q" && route.filter) {
    const { object, limits } = route.filter;
    return { ...components.filter(object), description: filterText(limits) };
  }
  const { schema, description }: { schema?: object; description?: string } = describeQuery(
    name,
    route,
  );
  return { ...schema, ...description !== undefined && { description } };
}

/** On a route of one entity, a condition could exclude this entity, so the example is empty. */
function exampleOf(filter: FilterNode, { isOfMany, method }: RouteNode): object {
  return isOfMany ? filterExample(filter, { selectsNothing: method !== "GET" }) : {};
}

/** Only hooks read a query parameter that no feature describes, so its values are unknown. */
function describeQuery(name: string, { facts }: RouteNode): object {
  const known = facts.parameters[name];
  if (known === undefined) return UNKNOWN;
  const { text: description, fields, values = fields, schema = {} } = known;
  if (values === undefined) return { description, schema };
  if (values.length === 0) return UNKNOWN;
  return {
    description,
    style: "form",
    explode: false,
    schema: { type: "array", minItems: 1, items: { type: "string", enum: values }, ...schema },
  };
}

const UNKNOWN = { schema: {} };

const PREFERENCES = {
  "return=minimal": "`return=minimal` requests an answer without a body.",
  "max-affected":
    "With `max-affected=10`, the answer is 409 if the request selects more than 10 entities.",
};

const HEADERS: { readonly [N in HeaderDescription["name"]]?: JsonSchema } = {
  "If-Match": {
    description: "The `ETag` of the entity as it was read, or `*`. " +
      "If the entity has changed since, the answer is 412.",
    example: "*",
  },
  "If-None-Match": {
    description: "The `ETag` of the answer as it was read. If it is the same, the answer is 304.",
  },
  Prefer: {},
};

const CREATE_ONLY = "With `*`, the answer is 412 if the entity exists already.";

export function describeHeader(
  { name, required, preferences = [] }: HeaderDescription,
  { method, facts }: RouteNode,
): object {
  const ofFeature = facts.headers[name];
  if (ofFeature !== undefined) {
    const { text: description, schema } = ofFeature;
    return { name, in: "header", required, description, schema };
  }
  const texts: Readonly<Record<string, string | undefined>> = {
    ...PREFERENCES,
    ...facts.preferences,
  };
  // Test tools send the example and expect a body, which `return=minimal` lacks.
  const example = preferences.find((each) => each !== "return=minimal");
  return {
    name,
    in: "header",
    required,
    ...HEADERS[name],
    ...name === "If-None-Match" && method === "PUT" && { description: CREATE_ONLY, example: "*" },
    ...preferences.length > 0 && {
      description: preferences.map((each) => texts[each]).join(" "),
    },
    ...example !== undefined && {
      example: example === "max-affected" ? `${example}=10` : example,
    },
    schema: { type: "string" },
  };
}

import { CURSOR } from "../filter/parameters/cursor.ts";
import { LIST_LIMITS } from "../filter/parameters/read_rules.ts";
import { MAX_KEY_LENGTH } from "../pipeline/request/idempotency_key.ts";
import type { HeaderDescription, ParameterDescription } from "../http/routes/describe_route.ts";
import type { RouteNode } from "./route_node.ts";
import type { OpenApiOptions } from "./options.ts";
import type { Components } from "./schemas/components.ts";
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
  if (parameter.in === "path") return { ...place, schema: { type: "string" } };
  if (name === "q" && route.filter) {
    const { object, limits } = route.filter;
    const schema = components.filter(object);
    return {
      ...place,
      description: `A filter of MongoDB: at most ${limits.maxClauses} conditions, ` +
        `${limits.maxDepth} levels, ${limits.maxList} values in a list, ` +
        `${limits.maxRegex} characters in an expression`,
      ...q === "content" ? { content: { [JSON_TYPE]: { schema, example: {} } } } : {
        schema: { type: "string", contentMediaType: JSON_TYPE, contentSchema: schema },
        example: "{}",
      },
    };
  }
  return { ...place, ...describeQuery(parameter) };
}

/**
 * Describes a query parameter of the framework. Hooks read all other parameters, so the schema of these parameters
 * allows every value.
 */
function describeQuery(parameter: ParameterDescription): object {
  const { name, fields = [], default: given, maximum } = parameter;
  switch (name) {
    case "limit":
      return maximum === undefined ? UNKNOWN : {
        description: "The most entities of a page",
        schema: { type: "integer", minimum: 1, maximum, default: given },
      };
    case "skip":
      return {
        description: "How many entities come before the page",
        schema: { type: "integer", minimum: 0, maximum: LIST_LIMITS.skipped },
      };
    case "after":
      return {
        description:
          "Where the page begins, as `Link` has it, or the `_id` of the entity behind which it begins; without `skip`",
        schema: { type: "string", pattern: CURSOR.source },
      };
    case "sort":
      return listOf(fields.flatMap((field) => [field, `-${field}`]), {
        description: "The fields to sort by, each once, with `-` for descending order",
        more: { maxItems: LIST_LIMITS.keys, uniqueItems: true },
      });
    case "search": {
      const word = "[^\\s\\u0000]+";
      const pattern = `^\\s*${word}(\\s+${word}){0,${LIST_LIMITS.words - 1}}\\s*$`;
      return {
        description: `Words to look for: at most ${LIST_LIMITS.words}`,
        schema: { type: "string", maxLength: LIST_LIMITS.characters, pattern },
      };
    }
    default:
      return Object.hasOwn(LISTS, name)
        ? listOf(fields, { description: LISTS[name as keyof typeof LISTS] })
        : UNKNOWN;
  }
}

const LISTS = {
  select: "The fields to show. `_id` is always shown",
  populate: "The references to replace by entities",
  group: "The fields to group by: the answer has groups in the place of entities",
  sum: "The numbers of which each group tells the sum",
  avg: "The numbers of which each group tells the average",
} as const;

const UNKNOWN = { schema: {} };

function listOf(
  names: readonly string[],
  { description, more = {} }: { readonly description: string; readonly more?: JsonSchema },
): object {
  if (names.length === 0) return UNKNOWN;
  return {
    description,
    style: "form",
    explode: false,
    schema: { type: "array", minItems: 1, items: { type: "string", enum: names }, ...more },
  };
}

const PREFERENCES = {
  "count=exact": "`count=exact` asks for the total",
  "return=minimal": "`return=minimal` asks for an answer without a body",
  "max-affected": "`max-affected=10` asks for a 409 if there are more entities than that",
};

const HEADERS: Readonly<Record<HeaderDescription["name"], JsonSchema>> = {
  "If-Match": {
    description: "The `ETag` of the entity as it was read, or `*`. " +
      "If the entity has changed since, the answer is 412",
    example: "*",
  },
  "If-None-Match": {
    description: "The `ETag` of the answer as it was read. If it is the same, the answer is 304",
  },
  Prefer: {},
  "Last-Event-ID": {
    description: "The `id` of the last event, for a list as `text/event-stream` that continues",
  },
  "Idempotency-Key": {
    description: "A text of the client's own, such as a UUID. " +
      "A request with the key and the body of an earlier one creates nothing: " +
      "it has the answer of that one",
  },
};

const CREATE_ONLY = "`*` asks for a 412 if there is an entity already";

export function describeHeader(
  { name, required, preferences = [] }: HeaderDescription,
  { method }: RouteNode,
): object {
  // `return=minimal` is not used as an example. Tools send the example and expect the documented answer, but the answer
  // would have no body.
  const example = preferences.find((each) => each !== "return=minimal");
  return {
    name,
    in: "header",
    required,
    ...HEADERS[name],
    ...name === "If-None-Match" && method === "PUT" && { description: CREATE_ONLY, example: "*" },
    ...preferences.length > 0 && {
      description: preferences.map((each) => PREFERENCES[each]).join(". "),
    },
    ...example !== undefined && {
      example: example === "max-affected" ? `${example}=10` : example,
    },
    schema: name === "Idempotency-Key"
      ? { type: "string", minLength: 1, maxLength: MAX_KEY_LENGTH }
      : { type: "string" },
  };
}

import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS, wordsOf } from "../../declare/operations/operation.ts";
import type { OperationWords } from "../../declare/operations/operation.ts";
import { isJson, isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";

const EXPECTED: Readonly<
  Record<keyof OperationWords, (value: unknown) => string | undefined>
> = {
  summary: asText,
  description: asText,
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => asText(tag) === undefined)
      ? undefined
      : "a list of texts",
  deprecated: (value) => typeof value === "boolean" ? undefined : "true or false",
  example: (value) => isJsonObject(value) && isJson(value) ? undefined : "an object of JSON",
  operationId: (value) =>
    typeof value === "string" && /^[A-Za-z_][\w.-]*$/.test(value)
      ? undefined
      : "a name of letters, digits and _",
};

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? undefined : "a text";
}

/** Gives what is wrong with an option that tells something, if anything. */
export function wordProblem(options: object): string | undefined {
  for (const [name, value] of Object.entries(wordsOf(options))) {
    const expected = EXPECTED[name as keyof OperationWords](value);
    if (expected !== undefined) return `"${name}", which is not ${expected}`;
  }
  return undefined;
}

/** Gives what is wrong with the example of an answer: a field that answers leave out. */
export function exampleProblem({ operation, hooks }: Method, shape: Shape): string | undefined {
  const isShown = OPERATIONS[operation].verb === "get";
  const path = isShown ? secretIn(hooks.example, shape) : undefined;
  return path && `${operation}() has "example" with "${path}", which no answer shows`;
}

/** Gives the path of a secret that a value has, if any. */
function secretIn(value: unknown, shape: Shape | undefined): string | undefined {
  if (shape === undefined || !isJsonObject(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const field = shape.fields.get(name);
    if (field?.hidden || field?.selected === false) return name;
    const below = field === undefined
      ? secretIn(inner, shape.joined.get(name))
      : secretBelow(inner, field);
    if (below !== undefined) return `${name}.${below}`;
  }
  return undefined;
}

function secretBelow(value: unknown, field: FieldShape): string | undefined {
  const { element, shape, populated } = field;
  if (element === undefined) return secretIn(value, shape ?? populated);
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const below = secretBelow(each, element);
    if (below !== undefined) return `${key}.${below}`;
  }
  return undefined;
}

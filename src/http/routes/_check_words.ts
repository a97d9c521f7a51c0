import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS, wordsOf } from "../../declare/operations/operation.ts";
import type { OperationWords } from "../../declare/operations/operation.ts";
import { isJson, isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";

const isText = (value: unknown) => typeof value === "string";

/** The rule for each option that describes an operation, and its test. */
const RULES: Readonly<
  Record<keyof OperationWords, readonly [string, (value: unknown) => boolean]>
> = {
  summary: ["a text", isText],
  description: ["a text", isText],
  tags: ["a list of texts", (value) => Array.isArray(value) && value.every(isText)],
  deprecated: ["true or false", (value) => typeof value === "boolean"],
  example: ["an object of JSON", (value) => isJsonObject(value) && isJson(value)],
  operationId: [
    "a name of letters, digits and _",
    (value) => isText(value) && /^[A-Za-z_][\w.-]*$/.test(String(value)),
  ],
};

/** Finds an option that breaks its rule. */
export function wordProblem(options: object): string | undefined {
  for (const [name, value] of Object.entries(wordsOf(options))) {
    const [rule, isKept] = RULES[name as keyof OperationWords];
    if (!isKept(value)) return `"${name}", which is not ${rule}`;
  }
  return undefined;
}

/** Finds a field in the example of an answer that answers leave out. */
export function exampleProblem({ operation, hooks }: Method, shape: Shape): string | undefined {
  const isShown = OPERATIONS[operation].verb === "get";
  const path = isShown ? secretIn(hooks.example, shape) : undefined;
  return path && `${operation}() has "example" with "${path}", which no answer shows`;
}

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

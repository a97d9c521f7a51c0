import type { Method } from "../../declare/operations/methods.ts";
import { OPERATIONS } from "../../declare/operations/operation.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { cannotMount } from "./_check_rest.ts";

/**
 * Checks that the example of an answer shows no field that answers leave out.
 *
 * @throws {TypeError} If it does.
 */
export function checkExample(
  { operation, hooks }: Method,
  { target, shape }: { readonly target: Parameters<typeof cannotMount>[0]; readonly shape: Shape },
): void {
  const { example } = hooks;
  if (OPERATIONS[operation].verb !== "get" || !isJsonObject(example)) return;
  const path = secretIn(example, shape);
  if (path === undefined) return;
  throw cannotMount(target, `${operation}() has "example" with "${path}", which no answer shows`);
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

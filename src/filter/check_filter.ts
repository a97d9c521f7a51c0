import {
  isConvertible,
  isSerializedKey,
  isStorable,
  isTrusted,
  lossOf,
} from "../schema/mongoose/bson.ts";
import { isExactFilter } from "../schema/mongoose/statements/exact_filter.ts";
import { type Filter, isClause, isCompiled, markUntrusted } from "./filters.ts";
import { fieldDeclaredIn, fieldOf, FREE } from "./q/resolve_path.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { isJsonObject, type JsonObject } from "../schema/fields/json.ts";

const MAX_DEPTH = 100;

/**
 * Refuses values that BSON loses, and undeclared fields: both could make a filter select every entity. Only a `scope`
 * is trusted, because operators of other filters may come from a request.
 */
export function checkFilter(
  filter: unknown,
  { what, model, shape }: {
    readonly what: "filter" | "scope";
    readonly model: string;
    readonly shape: Shape;
  },
): Filter {
  if (!isJsonObject(filter)) throw new TypeError(`Cannot use the ${what}: it is not an object`);
  const undeclared = undeclaredIn(filter, fieldOf(shape));
  if (undeclared !== undefined) {
    throw new TypeError(`Cannot use the ${what}: "${model}" declares no field "${undeclared}"`);
  }
  return checkObject(filter, { path: what, depth: 0, trusted: what === "scope" });
}

function undeclaredIn(conditions: JsonObject, object: FieldShape): string | undefined {
  return firstOf(Object.entries(conditions), ([key, value]) => {
    if (!key.startsWith("$")) return undeclaredAt(key, { value, object });
    const clauses = isClause(key) && Array.isArray(value) ? value.filter(isJsonObject) : [];
    return firstOf(clauses, (each) => undeclaredIn(each, object));
  });
}

function undeclaredAt(
  path: string,
  { value, object }: { readonly value: unknown; readonly object: FieldShape },
): string | undefined {
  const field = fieldDeclaredIn(object, path);
  if (field === undefined) return path;
  const found = undeclaredBelow(value, field);
  return found && `${path}.${found}`;
}

function undeclaredBelow(operators: unknown, field: FieldShape): string | undefined {
  if (!isJsonObject(operators) || isCompiled(operators)) return undefined;
  return firstOf(Object.entries(operators), ([operator, operand]) => {
    if (operator === "$not") return undeclaredBelow(operand, field);
    if (operator === "$all" && Array.isArray(operand)) {
      return firstOf(operand, (each) => undeclaredBelow(each, field));
    }
    if (operator !== "$elemMatch" || !isJsonObject(operand)) return undefined;
    const element = field.kind === "array" ? field.element ?? FREE : field;
    return undeclaredIn(operand, element) ?? undeclaredBelow(operand, element);
  });
}

function firstOf<T>(
  values: readonly T[],
  find: (value: T) => string | undefined,
): string | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface ValuePlace {
  readonly path: string;
  readonly depth: number;
  readonly trusted: boolean;
}

function check(value: unknown, place: ValuePlace): unknown {
  const loss = lossOf(value);
  if (loss !== undefined) throw unusable(place.path, loss);
  if (typeof value !== "object" || value === null || isCompiled(value)) return value;
  if (place.depth > MAX_DEPTH) throw unusable(place.path, "nested too deep");
  if (Array.isArray(value)) {
    return Array.from(value, (each: unknown, index) => check(each, below(place, index)));
  }
  if (isJsonObject(value)) return checkObject(value, place);
  if (isStorable(value) || isConvertible(value)) return value;
  const { constructor } = value as { constructor?: { name?: unknown } };
  const name = String(constructor?.name ?? "");
  throw unusable(place.path, `an object of the class "${name}", which is stored as {}`);
}

function checkObject(object: JsonObject, place: ValuePlace): Filter {
  const entries: [string, unknown][] = [];
  for (const key of Reflect.ownKeys(object)) {
    if (!isSerializedKey(object, key)) {
      if (isExactFilter(object)) continue;
      throw unusable(`${place.path}.${String(key)}`, "a key that is lost");
    }
    if (typeof key === "symbol") continue;
    const inner = below(place, key);
    const value = object[key];
    if (isClause(key) && Array.isArray(value) && value.length === 0) {
      throw unusable(inner.path, "an empty list");
    }
    // Mongoose sends a function as source code for `$where` only. Anywhere else, it would be lost.
    const isCode = key === "$where" && typeof value === "function";
    entries.push([key, isCode ? String(value) : check(value, inner)]);
  }
  const copy = Object.fromEntries(entries);
  return entries.length === 0 || place.trusted || isTrusted(object) ? copy : markUntrusted(copy);
}

function below({ path, depth, trusted }: ValuePlace, key: string | number): ValuePlace {
  return { path: `${path}.${key}`, depth: depth + 1, trusted };
}

function unusable(path: string, loss: string): TypeError {
  return new TypeError(`Cannot use the filter: "${path}" is ${loss}`);
}

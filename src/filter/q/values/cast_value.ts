import { badFormat } from "../../../errors/refusals.ts";
import { readBase64 } from "../../../schema/mongoose/bson.ts";
import { castForQuery } from "../../../schema/mongoose/internals.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";
import { checkDepth } from "../budget.ts";
import type { Place } from "../budget.ts";
import { isExtendedJson, readExtendedJson } from "./extended_json.ts";
import { isJsonObject, isPlainKey } from "../../../schema/fields/json.ts";
import type { JsonObject } from "../../../schema/fields/json.ts";
import { FREE, resolvePath } from "../resolve_path.ts";

/**
 * Casts a client's value to the declared type of its field; `null` stays, as it matches what is missing.
 *
 * @throws {RestError} 400 that names the field, if the value cannot be one.
 */
export function castValue(value: unknown, place: Place): unknown {
  const { field, path } = place;
  const read = isJsonObject(value) && isExtendedJson(value) ? readExtendedJson(value, path) : value;
  if (read === null) return null;
  switch (field.kind) {
    case "scalar":
      return castScalar(read, place);
    case "array":
      return castArray(read, place);
    default:
      return isJsonObject(read) ? castObject(read, place) : castFree(read, place);
  }
}

function castScalar(value: unknown, { field, path }: Place): unknown {
  try {
    if (isJsonObject(value) || Array.isArray(value)) throw new TypeError("No scalar");
    return field.type && castForQuery(field.type, fromJson(value, field));
  } catch {
    throw badFormat(`Value at "${path}" cannot be read as ${field.type?.instance ?? "a value"}`, {
      field: path,
    });
  }
}

/** Bytes are base64 in JSON, in both directions; an int64 is a number wherever it fits one. */
function fromJson(value: unknown, { type }: FieldShape): unknown {
  if (type?.instance === "Buffer" && typeof value === "string") {
    const bytes = readBase64(value);
    if (bytes === undefined) throw new TypeError("No base64");
    return bytes;
  }
  const exact = typeof value === "bigint" && Number.isSafeInteger(Number(value));
  return exact && type?.instance !== "BigInt" ? Number(value) : value;
}

/** An array is matched by an element, or by a whole array. */
function castArray(value: unknown, place: Place): unknown {
  const element = { ...place, field: place.field.element ?? FREE };
  return Array.isArray(value) ? castList(value, element) : castValue(value, element);
}

function castList(value: unknown[], place: Place): unknown[] {
  const { limits } = place.budget;
  if (value.length > limits.maxList) {
    throw badFormat(`A list at "${place.path}" has at most ${limits.maxList} values`);
  }
  return value.map((each) => castValue(each, deeper(place)));
}

function castFree(value: unknown, place: Place): unknown {
  if (place.field.kind !== "free") {
    throw badFormat(`Value at "${place.path}" cannot be read as an object`, { field: place.path });
  }
  return Array.isArray(value) ? castList(value, place) : value;
}

/** A whole object to be equal to: its keys are declared, and none of them is an operator. */
function castObject(value: JsonObject, place: Place): JsonObject {
  const inner = deeper(place);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const path = `${place.path}.${key}`;
      if (!isPlainKey(key)) {
        throw badFormat(`Key "${key}" is not allowed inside the value at "${place.path}"`, {
          field: place.path,
        });
      }
      return [key, castValue(each, { ...inner, path, field: memberOf(place.field, key) })];
    }),
  );
}

function memberOf(field: FieldShape, key: string): FieldShape {
  if (field.kind === "object") return resolvePath(key, field.shape as Shape);
  return field.kind === "map" ? field.element ?? FREE : FREE;
}

function deeper(place: Place): Place {
  checkDepth(place.budget, place.depth + 1);
  return { ...place, depth: place.depth + 1 };
}

import { badFormat } from "../../errors/refusals.ts";
import { readBase64 } from "../../schema/mongoose/bson.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { deeper } from "./context.ts";
import type { Context } from "./context.ts";
import { isExtendedJson, readExtendedJson } from "./extended_json.ts";
import { isFieldKey, isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { FREE, resolvePath } from "./resolve_path.ts";

/**
 * Casts a client's value to the declared type of its field; `null` stays, as it matches what is missing.
 *
 * @throws {RestError} 400 that names the field, if the value cannot be one.
 */
export function castValue(value: unknown, context: Context): unknown {
  const { field, path } = context;
  const read = isJsonObject(value) && isExtendedJson(value) ? readExtendedJson(value, path) : value;
  if (read === null) return null;
  switch (field.kind) {
    case "scalar":
      return castScalar(read, context);
    case "array":
      return castArray(read, context);
    default:
      return isJsonObject(read) ? castObject(read, context) : castFree(read, context);
  }
}

function castScalar(value: unknown, { field, path }: Context): unknown {
  try {
    if (isJsonObject(value) || Array.isArray(value)) throw new TypeError("No scalar");
    return field.type && castForQuery(field.type, fromJson(value, field));
  } catch {
    throw badFormat(`Value at "${path}" cannot be read as ${field.type?.instance ?? "a value"}`, {
      field: path,
    });
  }
}

/** Bytes are base64 in JSON; an int64 becomes a number where that is exact. */
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
function castArray(value: unknown, context: Context): unknown {
  const element = { ...context, field: context.field.element ?? FREE };
  return Array.isArray(value) ? castList(value, element) : castValue(value, element);
}

function castList(value: unknown[], context: Context): unknown[] {
  const { path, limits: { maxList } } = context;
  if (value.length > maxList) {
    throw badFormat(`A list at "${path}" has at most ${maxList} values`);
  }
  return value.map((each) => castValue(each, deeper(context)));
}

function castFree(value: unknown, context: Context): unknown {
  const { field, path } = context;
  if (field.kind !== "free") {
    throw badFormat(`Value at "${path}" cannot be read as an object`, { field: path });
  }
  return Array.isArray(value) ? castList(value, context) : value;
}

/** A whole object to be equal to: its keys are declared, and none of them is an operator. */
function castObject(value: JsonObject, context: Context): JsonObject {
  const inner = deeper(context);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (!isFieldKey(key)) {
        throw badFormat(`Key "${key}" is not allowed inside the value at "${context.path}"`, {
          field: context.path,
        });
      }
      const path = `${context.path}.${key}`;
      return [key, castValue(each, { ...inner, path, field: memberOf(context.field, key) })];
    }),
  );
}

function memberOf(field: FieldShape, key: string): FieldShape {
  if (field.kind === "object") return resolvePath(key, field.shape as Shape);
  return field.kind === "map" ? field.element ?? FREE : FREE;
}

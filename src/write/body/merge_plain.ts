import { badData } from "../../errors/bad_data.ts";
import { isJsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import {
  castElement,
  castField,
  checkKey,
  deeper,
  hasProblems,
  writableEntries,
} from "./cast_body.ts";
import type { Cast } from "./cast_body.ts";
import { holdsProtected, isClearable } from "./protected_fields.ts";

type Plain = Record<string, unknown>;

/** How a body is merged into a part of an entity. */
interface Merge extends Cast {
  /** Whether what the body leaves out is cleared, as in an element that is replaced by itself. */
  readonly whole: boolean;
}

/**
 * Merges a body into a copy of a plain entity, one of another database: the same rules as for documents, without
 * Mongoose.
 *
 * @throws {RestError} 400 that names every field whose value cannot be cast.
 */
export function mergePlain(entity: object, body: JsonObject, shape: Shape): Plain {
  const merge: Merge = { path: "", depth: 0, problems: {}, whole: false };
  const result = mergeFields(entity as Plain, body, shape, merge);
  if (hasProblems(merge.problems)) throw badData(merge.problems);
  return result;
}

function mergeFields(entity: Plain, patch: JsonObject, shape: Shape, merge: Merge): Plain {
  const result = copyOf(entity);
  const named = new Map(writableEntries(patch, shape, merge));
  for (const [key, value] of named) {
    const field = shape.fields.get(key) as FieldShape;
    if (value === null) clear(result, key, field);
    else result[key] = mergeField(ownValue(result, key), value, field, deeper(merge, key));
  }
  if (!merge.whole) return result;
  for (const [key, field] of shape.fields) {
    if (!named.has(key) && isClearable(field)) clear(result, key, field);
  }
  return result;
}

function mergeField(current: unknown, value: unknown, field: FieldShape, merge: Merge): unknown {
  const { kind, element } = field;
  if (isJsonObject(value) && isJsonObject(current)) {
    if (kind === "object") return mergeFields(current, value, field.shape as Shape, merge);
    if (kind === "map" || (kind === "free" && !merge.whole)) {
      return mergeKeys(current, value, field, merge);
    }
  }
  if (Array.isArray(value) && Array.isArray(current) && element?.kind === "object") {
    return mergeElements(current, value, field, merge);
  }
  return castField(value, field, merge);
}

/** RFC 7396 inside a free-form field or a map. */
function mergeKeys(current: Plain, patch: JsonObject, field: FieldShape, merge: Merge): Plain {
  const inner = field.element ?? field;
  const result = { ...current };
  for (const [key, value] of Object.entries(patch)) {
    if (PROTOTYPE_KEYS.has(key)) continue;
    checkKey(key, merge);
    if (value === null) remove(result, key, inner);
    else result[key] = mergeField(ownValue(result, key), value, inner, deeper(merge, key));
  }
  if (!merge.whole) return result;
  for (const key of Object.keys(result)) {
    if (!Object.hasOwn(patch, key)) remove(result, key, inner);
  }
  return result;
}

/** Replaces an array, in which an element that names the `_id` of one that is there is that one. */
function mergeElements(
  current: readonly unknown[],
  list: readonly unknown[],
  field: FieldShape,
  merge: Merge,
): unknown[] {
  const { shape } = field.element as FieldShape;
  const there = new Map(current.filter(isIdentified).map((each) => [String(each._id), each]));
  return list.map((each, index) => {
    const inner = { ...deeper(merge, index), whole: true };
    const known = isJsonObject(each) ? there.get(String(each._id)) : undefined;
    if (known === undefined) return castElement(each, field, inner);
    // Who names it again means a new one.
    there.delete(String(known._id));
    return mergeFields(known, each as JsonObject, shape as Shape, inner);
  });
}

function clear(object: Plain, key: string, field: FieldShape): void {
  if (field.kind === "array") object[key] = [];
  else remove(object, key, field);
}

/** Removes a value. An object stays where a client would remove with it what it can neither see nor set. */
function remove(object: Plain, key: string, field: FieldShape): void {
  const current = ownValue(object, key);
  if (!isJsonObject(current) || !holdsProtected(current, field)) delete object[key];
  else object[key] = protectedPart(current, field);
}

function protectedPart(current: Plain, { element, shape }: FieldShape): Plain {
  const result = copyOf(current);
  if (element !== undefined) {
    for (const key of Object.keys(result)) remove(result, key, element);
  }
  for (const [key, inner] of shape?.fields ?? []) {
    if (isClearable(inner)) clear(result, key, inner);
  }
  return result;
}

function isIdentified(value: unknown): value is Plain {
  return isJsonObject(value) && value._id !== undefined && value._id !== null;
}

/** A client's key may be called like something that every object has. */
function ownValue(object: Plain, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function copyOf(object: Plain): Plain {
  return Object.assign(Object.create(Object.getPrototypeOf(object)), object);
}

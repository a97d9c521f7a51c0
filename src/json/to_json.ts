import { Buffer } from "node:buffer";
import { isLeftOutKey } from "../schema/fields/json.ts";
import type { Document, Schema } from "mongoose";
import { isDocument } from "../schema/mongoose/bson.ts";
import { rawArray, rawValues } from "../schema/mongoose/documents/document_values.ts";
import { showsValues } from "../schema/mongoose/documents/shown_values.ts";
import { findJsonType, integerToJson, isBson } from "./json_types.ts";
import { markOf, spreadOf } from "../schema/mongoose/documents/mark_copies.ts";
import { describeShape, shapeOfInstance } from "../schema/fields/shape.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";

/** Writes an entity, or anything that a hook gave in its place, as the JSON text of the answer. */
export function toJson(value: unknown, shape?: Shape): string {
  return JSON.stringify(toJsonValue(value, shape)) ?? "null";
}

/** Turns a value into one of JSON. Hidden fields of its shape are left out, of copies too. */
export function toJsonValue(value: unknown, shape?: Shape): unknown {
  switch (typeof value) {
    case "bigint":
      return integerToJson(value);
    case "object":
      return value === null ? null : fromObject(value, shape);
    case "function":
    case "symbol":
      return undefined;
    default:
      return value;
  }
}

function fromObject(value: object, shape: Shape | undefined): unknown {
  if (Array.isArray(value)) {
    return fromList(rawArray(value), shape);
  }
  if (isDocument(value)) return fromDocument(value);
  const form = findJsonType(value)?.toJson;
  if (form !== undefined) return form(value);
  if (isBson(value)) return toJsonValue({ ...value.toJSON?.() });
  if (value instanceof Map) return entries(Object.fromEntries(value), { shape });
  if (value instanceof Set) return Array.from(value, (each) => toJsonValue(each, shape) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return toJsonValue(value.toJSON(), shape);
  }
  // A document that was spread: its values, and those that were added to them.
  const spread = spreadOf(value);
  const mark = spread === undefined ? markOf(value) : spread.mark;
  const stored = spread?.stored ?? value;
  const values = mark === undefined ? stored : withoutKeys(stored, mark.undeclared);
  const known = mark === undefined
    ? spread === undefined ? shapeOfInstance(value) : undefined
    : describeShape(mark.schema);
  return entries(spread === undefined ? values : { ...values, ...spread.added }, { shape, known });
}

/** The elements one by one: a list may have holes, and `Array.from()` takes four times as long. */
function fromList(list: readonly unknown[], shape: Shape | undefined): unknown[] {
  const result: unknown[] = [];
  for (let index = 0; index < list.length; index++) {
    result.push(toJsonValue(list[index], shape) ?? null);
  }
  return result;
}

function fromDocument(doc: Document): object {
  const schema = doc.schema as Schema;
  const shape = describeShape(schema);
  // A hook may have given it a method of its own.
  const isUsual = showsValues(schema) && !Object.hasOwn(doc, "toJSON");
  return isUsual
    ? entries(rawValues(doc), { shape, declaredOnly: true })
    : entries(doc.toJSON(), { shape });
}

function withoutKeys(value: object, keys: ReadonlySet<string>): object {
  if (keys.size === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));
}

interface Shapes {
  /** The shape of what is expected in this place. */
  readonly shape?: Shape | undefined;
  /** The shape that the object itself is known to have. */
  readonly known?: Shape | undefined;
  readonly declaredOnly?: boolean;
}

/** Fields that one of the shapes hides are left out. */
function entries(value: object, { shape, known, declaredOnly = false }: Shapes): object {
  const own = known === shape ? undefined : known;
  const [fields, others] = [own?.fields, shape?.fields];
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const other = others?.get(key);
    const field = fields?.get(key) ?? other;
    if (field === undefined ? declaredOnly : field.hidden || other?.hidden) continue;
    if (isLeftOutKey(key)) continue;
    const each: unknown = value[key as keyof typeof value];
    // Hooks may put a copy of an entity under a key of their own: the shape still names its secrets.
    const json = field === undefined
      ? toJsonValue(each, (own ?? shape)?.joined.get(key) ?? shape)
      : toFieldJson(each, field);
    if (json !== undefined) result[key] = json;
  }
  return result;
}

function toFieldJson(value: unknown, field: FieldShape): unknown {
  if (typeof value !== "object" || value === null) return toJsonValue(value);
  const { element } = field;
  if (field.kind === "map" && element !== undefined) {
    const pairs = value instanceof Map ? [...value] : Object.entries(value);
    return Object.fromEntries(
      pairs.filter(([key]) => !isLeftOutKey(key))
        .map(([key, each]) => [key, toFieldJson(each, element)]),
    );
  }
  const form = findJsonType(value)?.toJson;
  if (form !== undefined) return form(value);
  if ((element ?? field).type?.instance === "Buffer") return fromBytes(value);
  return toJsonValue(
    value,
    field.shape ?? field.populated ?? element?.shape ?? element?.populated,
  );
}

/** Bytes, or what `toJSON()` of a document has made of them. */
function fromBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromBytes);
  const { data } = (value ?? {}) as { data?: unknown };
  return toJsonValue(Array.isArray(data) ? Buffer.from(data) : value);
}

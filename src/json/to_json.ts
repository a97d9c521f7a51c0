import { Buffer } from "node:buffer";
import { isLeftOutKey } from "../schema/fields/json.ts";
import type { Document, Schema } from "mongoose";
import { isDocument } from "../schema/mongoose/bson.ts";
import { rawArray, rawValues } from "../schema/mongoose/documents/document_values.ts";
import { showsValues } from "../schema/mongoose/documents/shown_values.ts";
import { findJsonType, isBson } from "./types/json_types.ts";
import { integerToJson } from "./types/json_forms.ts";
import { markOf, spreadOf } from "../schema/mongoose/documents/mark_copies.ts";
import type { Spread } from "../schema/mongoose/documents/mark_copies.ts";
import { jsonFor } from "../schema/mongoose/documents/hide_in_json.ts";
import { NO_RIGHTS } from "../schema/fields/rights.ts";
import type { Rights } from "../schema/fields/rights.ts";
import { describeShape, shapeOfInstance } from "../schema/fields/shape.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";

/** Writes an entity, or anything that a hook gave in its place, as the JSON text of the answer. */
export function toJson(value: unknown, shape?: Shape): string {
  return JSON.stringify(toJsonValue(value, shape)) ?? "null";
}

/** Turns a value into one of JSON. Hidden fields of its shape are left out, of copies too. */
export function toJsonValue(value: unknown, shape?: Shape): unknown {
  return fromValue(value, { shape, rights: shape?.rights ?? NO_RIGHTS });
}

interface Expected {
  /** The shape of what is expected in this place. */
  readonly shape?: Shape | undefined;
  /** The reader's: entities of any model may be anywhere in what a hook gives. */
  readonly rights: Rights;
}

function fromValue(value: unknown, expected: Expected): unknown {
  switch (typeof value) {
    case "bigint":
      return integerToJson(value);
    case "object":
      return value === null ? null : fromObject(value, expected);
    case "function":
    case "symbol":
      return undefined;
    default:
      return value;
  }
}

function fromObject(value: object, expected: Expected): unknown {
  const { rights } = expected;
  if (Array.isArray(value)) {
    return Array.from(rawArray(value), (each) => fromValue(each, expected) ?? null);
  }
  const form = findJsonType(value)?.toJson;
  if (form !== undefined) return form(value);
  if (isBson(value)) return fromValue({ ...value.toJSON?.() }, { rights });
  if (isDocument(value)) return fromDocument(value, rights);
  if (value instanceof Map) return entries(Object.fromEntries(value), expected);
  if (value instanceof Set) return Array.from(value, (each) => fromValue(each, expected) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return fromValue(value.toJSON(), expected);
  }
  const spread = spreadOf(value);
  if (spread !== undefined) return fromSpread(spread, expected);
  const mark = markOf(value);
  return mark === undefined
    ? entries(value, { ...expected, known: shapeOfInstance(value, rights) })
    : entries(withoutKeys(value, mark.undeclared), {
      ...expected,
      known: describeShape(mark.schema, rights),
    });
}

function fromDocument(doc: Document, rights: Rights): object {
  const schema = doc.schema as Schema;
  const shape = describeShape(schema, rights);
  // A hook may have given it a method of its own.
  const isUsual = showsValues(schema) && !Object.hasOwn(doc, "toJSON");
  return isUsual
    ? entries(rawValues(doc), { shape, rights, declaredOnly: true })
    : entries(jsonFor(doc, rights), { shape, rights });
}

/** Gives the declared values of a document that was spread, and those that were added to it. */
function fromSpread({ stored, added, mark }: Spread, expected: Expected): object {
  const values = mark === undefined ? stored : withoutKeys(stored, mark.undeclared);
  const known = mark && describeShape(mark.schema, expected.rights);
  return entries({ ...values, ...added }, { ...expected, known });
}

function withoutKeys(value: object, keys: ReadonlySet<string>): object {
  if (keys.size === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));
}

interface Shapes extends Expected {
  /** The shape that the object itself is known to have. */
  readonly known?: Shape | undefined;
  readonly declaredOnly?: boolean;
}

/** Fields that one of the shapes hides are left out. */
function entries(value: object, { shape, known, rights, declaredOnly = false }: Shapes): object {
  const own = known === shape ? undefined : known;
  const joined = own?.joined ?? shape?.joined;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const expected = shape?.fields.get(key);
    const field = own?.fields.get(key) ?? expected;
    if (field?.hidden || expected?.hidden || isLeftOutKey(key)) continue;
    if (declaredOnly && field === undefined) continue;
    const each: unknown = value[key as keyof typeof value];
    // Hooks may put a copy of an entity under a key of their own: the shape still names its secrets.
    const json = isJsonScalar(each)
      ? each
      : field === undefined
      ? fromValue(each, { shape: joined?.get(key) ?? shape, rights })
      : toFieldJson(each, field, rights);
    if (json !== undefined) result[key] = json;
  }
  return result;
}

function isJsonScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ||
    value === null;
}

/** Turns the value of a field into one of JSON. */
export function toFieldJson(value: unknown, field: FieldShape, rights: Rights): unknown {
  const { element } = field;
  if (
    field.kind === "map" && element !== undefined && typeof value === "object" && value !== null
  ) {
    const pairs = value instanceof Map ? [...value] : Object.entries(value);
    return Object.fromEntries(
      pairs.filter(([key]) => !isLeftOutKey(key))
        .map(([key, each]) => [key, toFieldJson(each, element, rights)]),
    );
  }
  if ((element ?? field).type?.instance === "Buffer") return fromBytes(value);
  const shape = field.shape ?? field.populated ?? element?.shape ?? element?.populated;
  return fromValue(value, { shape, rights });
}

/** Bytes, or what `toJSON()` of a document has made of them. */
function fromBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromBytes);
  const { data } = (value ?? {}) as { data?: unknown };
  return toJsonValue(Array.isArray(data) ? Buffer.from(data) : value);
}

import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { type EntityFields, setEntityFields } from "../declare/hooks/named_fields.ts";
import { freezeDeeply } from "../schema/fields/freeze.ts";
import { isInstance, shapeOfInstance } from "../schema/fields/instance_shapes.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { UNRESTRICTED } from "../schema/fields/rights.ts";
import { describeShape, type Shape } from "../schema/fields/shape.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { copyWithout } from "../schema/mongoose/documents/copy_without.ts";
import { rawArray, rawValues } from "../schema/mongoose/documents/document_values.ts";
import { spreadOf } from "../schema/mongoose/documents/mark_copies.ts";
import type { Source } from "./source.ts";
import { documentOfFields } from "./collection/found_document.ts";
import { type FieldReader, fieldReader } from "./collection/instance_maker.ts";

const { BSON } = mongoose.mongo;

type Values = Record<string, unknown>;

/** A hook has left fields out of the answer, but later hooks still get them from `entity`. */
interface Reduced {
  readonly entity: object;
  readonly names: readonly string[];
}

const reduced = new WeakMap<object, Reduced>();

const alsoRead = new WeakMap<object, Readonly<Values>>();

/** Entities that were gone or out of scope when their missing fields were read. Hooks reject them. */
const vanished = new WeakSet<object>();

/**
 * Reads fields that a hook needs and the entity lacks, by a query for each entity.
 *
 * @throws {TypeError} If the entity lacks its identifier. A hook without the fields could let the entity pass.
 */
export async function readAlso(
  source: Source,
  { entity, names, isOnly }: {
    readonly entity: object;
    readonly names: readonly string[];
    readonly isOnly: boolean;
  },
): Promise<void> {
  const { _id } = entity as { readonly _id?: unknown };
  if (_id === undefined && !isOnly) {
    throw new TypeError(`Cannot read "${names[0]}" for a hook: the projection leaves out "_id"`);
  }
  const stored = await source.readStored({ _id }, names);
  if (stored === undefined) return void vanished.add(entity);
  const values = BSON.deserialize(BSON.serialize(stored), LOOSE);
  alsoRead.set(entity, heldBy(entity, { values, names }));
}

function heldBy(
  entity: object,
  { values, names }: { readonly values: Values; readonly names: readonly string[] },
): Values {
  if (isDocument(entity)) {
    const model = entity.constructor as Model<unknown>;
    return rawValues(documentOfFields(model, { values, names }));
  }
  const shape = shapeOf(entity);
  const held: Values = {};
  for (const name of names) {
    const field = shape?.fields.get(name);
    if (field === undefined) continue;
    const { convert, missing } = fieldReader(name, field);
    held[name] = values[name] === undefined ? missing?.() : convert(values[name]);
  }
  return held;
}

export function shareFields(entity: object, other: object): void {
  const also = alsoRead.get(entity);
  if (also !== undefined) alsoRead.set(other, also);
}

const LOOSE = { validation: { utf8: false } } as const;

const readers = new WeakMap<Shape, Map<string, FieldReader>>();
const readersForAnswers = new WeakMap<Shape, Map<string, FieldReader>>();

const ofEntities: EntityFields = {
  isReadable: (entity) => !vanished.has(reduced.get(entity)?.entity ?? entity),
  read: (entity, names) => readFields(entity, { names }),
  without(entity, names) {
    const copy = copyWithout(entity, names);
    reduced.set(copy, { entity, names });
    return copy;
  },
};

setEntityFields(ofEntities);

export function readFields(
  entity: object,
  { names, leavesOut = false }: {
    readonly names: readonly string[];
    readonly leavesOut?: boolean;
  },
): object {
  const shape = shapeOf(entity);
  const fields: Values = {};
  for (const name of new Set(["_id", ...names])) {
    const value = copyOf(valueOf(entity, name));
    const held = shape === undefined ? value : convert(value, { name, shape, leavesOut });
    if (held !== undefined) fields[name] = freezeDeeply(held);
  }
  return Object.freeze(fields);
}

function valueOf(entity: object, name: string): unknown {
  const original = reduced.get(entity);
  if (original?.names.includes(name)) return valueOf(original.entity, name);
  const also = alsoRead.get(original?.entity ?? entity);
  if (also !== undefined && Object.hasOwn(also, name)) return also[name];
  const values = isDocument(entity) ? rawValues(entity) : storedOf(entity);
  return Object.hasOwn(values, name) ? Reflect.get(values, name) : undefined;
}

/** A spread `{ ...document }` has Mongoose's members instead of fields, so its stored values are taken. */
function storedOf(entity: object): object {
  const spread = spreadOf(entity);
  return spread === undefined ? entity : { ...spread.stored, ...spread.added };
}

function shapeOf(entity: object): Shape | undefined {
  if (isDocument(entity)) return describeShape(entity.schema as Schema, UNRESTRICTED);
  const mark = spreadOf(entity)?.mark;
  return mark === undefined
    ? shapeOfInstance(entity, UNRESTRICTED)
    : describeShape(mark.schema, UNRESTRICTED);
}

function convert(
  value: unknown,
  { name, shape, leavesOut }: {
    readonly name: string;
    readonly shape: Shape;
    readonly leavesOut: boolean;
  },
): unknown {
  if (value === undefined) return undefined;
  const ofShapes = leavesOut ? readersForAnswers : readers;
  let ofShape = ofShapes.get(shape);
  if (ofShape === undefined) ofShapes.set(shape, ofShape = new Map());
  const cached = ofShape.get(name);
  if (cached !== undefined) return cached.convert(value);
  const field = shape.fields.get(name);
  if (field === undefined) return value;
  const reader = fieldReader(name, field, { isComplete: true, leavesOut });
  ofShape.set(name, reader);
  return reader.convert(value);
}

/** Hooks get this copy frozen, so that they cannot change the entity. It has the types of values from the driver. */
function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (Array.isArray(value)) return Array.from(rawArray(value), copyOf);
  if (value instanceof Map) {
    return new Map(
      Array.from(value as Map<unknown, unknown>, ([key, each]) => [key, copyOf(each)]),
    );
  }
  const values = isDocument(value)
    ? rawValues(value)
    : isJsonObject(value) || isInstance(value)
    ? value
    : undefined;
  if (values === undefined) return value;
  const copy: Values = {};
  for (const key of Object.getOwnPropertyNames(values)) {
    const each = copyOf(Reflect.get(values, key));
    if (each !== undefined) copy[key] = each;
  }
  return copy;
}

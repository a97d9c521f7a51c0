import mongoose, { type Document, type Model } from "mongoose";
import { everyFilter, type Filter, isEmpty, markCompiled } from "../filter/filters.ts";
import type { Selection } from "../filter/selection.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { byIdentifier, IDENTIFIER } from "../schema/fields/system_fields.ts";
import { isDocument, isObjectId } from "../schema/mongoose/bson.ts";
import { castForQuery } from "../schema/mongoose/schemas/field_rules.ts";
import { BodyCast } from "../write/body/cast_body.ts";
import type { ReadBinding, SaveBinding } from "./source.ts";

export function castIdentifier(value: unknown, { schema }: Model<unknown>): unknown {
  try {
    return schema.path("_id").cast(value, null as never, false);
  } catch {
    return undefined;
  }
}

/** A hook may return a copy whose identifier is a string, so it is cast. */
export function identifierOf(entity: object, model: Model<unknown>): unknown {
  const { _id } = entity as { _id?: unknown };
  if (_id !== undefined && _id !== null) {
    return model.schema.path("_id").cast(_id, null as never, false);
  }
  throw new TypeError(
    `Cannot reach what an entity of "${model.modelName}" holds: it was read without _id`,
  );
}

export function nameOf(entity: object): string | undefined {
  const { _id } = entity as { _id?: unknown };
  const isName = typeof _id === "string" || typeof _id === "number" || isObjectId(_id) ||
    _id instanceof mongoose.mongo.UUID;
  return isName ? String(_id) : undefined;
}

/** Without a cast by Mongoose, the filter also matches an identifier of another type than declared. */
export function byStoredId({ _id }: { readonly _id: unknown }): Filter {
  return { _id: markCompiled({ $eq: _id }) };
}

export function byIdentifiers(ids: readonly unknown[], unchanged: readonly Filter[]): Filter {
  if (unchanged.every(isEmpty)) return { _id: { $in: [...ids] } };
  return { $or: ids.map((_id, at) => everyFilter({ _id }, unchanged[at] ?? {})) };
}

export function castKey(value: unknown, field: FieldShape | undefined): unknown {
  if (field?.type === undefined || value === null) return undefined;
  const key = new BodyCast().value(value, field);
  return key === undefined ? undefined : castForQuery(field.type, key);
}

const DECIMAL = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i;

/** Mongoose would cast further strings, such as `" "` to 0, so several paths would lead to one entity. */
const FORM_OF_KEY: Readonly<Record<string, RegExp>> = {
  Number: DECIMAL,
  Double: DECIMAL,
  Decimal128: DECIMAL,
  Int32: /^-?\d+$/,
  BigInt: /^-?\d+$/,
  Boolean: /^(true|false)$/,
  Date: /^([-+]\d\d)?\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:\d\d))?$/i,
  ObjectId: IDENTIFIER,
};

export function castPathKey(text: string, field: FieldShape | undefined): unknown {
  const instance = field?.type?.instance ?? "";
  const isOfType = FORM_OF_KEY[instance]?.test(text) ?? true;
  if (!isOfType || instance === "Date" && !isInCalendar(text)) return undefined;
  return castKey(text, field) ?? undefined;
}

/** A path with February 30 would lead to March 2. */
function isInCalendar(text: string): boolean {
  const [day = ""] = /^.?\d+-\d\d-\d\d/.exec(text) ?? [];
  const read = new Date(day);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(`${day}T`);
}

/** `undefined` for a second spelling of an identifier, such as `01`. */
export function castPathId(text: string, { fields }: Shape): unknown {
  const field = fields.get("_id");
  if (field?.type?.instance === "ObjectId") return byIdentifier(text)?._id;
  const id = castPathKey(text, field);
  return String(id) === text ? id : undefined;
}

/** `undefined` if no stored entity can have this key. */
export function castKeyInPath(text: string, { by = "_id", shape }: KeyField): unknown {
  return by === "_id" ? castPathId(text, shape) : castPathKey(text, shape.fields.get(by));
}

export function byKey(text: string, { by = "_id", shape }: KeyField): Filter | undefined {
  const key = castKeyInPath(text, { by, shape });
  if (key === undefined) return undefined;
  return by === "_id" ? { _id: key } : { [by]: markCompiled({ $eq: key }) };
}

interface KeyField {
  readonly by?: string | undefined;
  readonly shape: Shape;
}

export function documentOf(entity: object): Document {
  if (isDocument(entity)) return entity;
  throw new TypeError("Cannot write a plain object: the operation needs a persist hook");
}

export function boundSelection(
  selection: Selection,
  { version, isFirst }: SaveBinding,
): Selection {
  return { ...selection, version, ...!isFirst && { filter: {} } };
}

export function readSelection(selection: Selection, { ids }: ReadBinding): Selection {
  if (ids === undefined) return selection;
  const named = { _id: markCompiled({ $in: ids }) };
  return { ...selection, filter: everyFilter(selection.filter, named) };
}

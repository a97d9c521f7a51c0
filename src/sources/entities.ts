import type { Document, Model } from "mongoose";
import { everyFilter, type Filter, markCompiled } from "../filter/filters.ts";
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

/** Gives the identifier of an entity, cast: a copy that a hook made may have it as text. Throws if it has none. */
export function identifierOf(entity: object, model: Model<unknown>): unknown {
  const { _id } = entity as { _id?: unknown };
  if (_id !== undefined && _id !== null) {
    return model.schema.path("_id").cast(_id, null as never, false);
  }
  throw new TypeError(
    `Cannot reach what an entity of "${model.modelName}" holds: it was read without _id`,
  );
}

/** The identifier of an entity, as its path has it; others have none. */
export function nameOf(entity: object): string | undefined {
  const { _id } = entity as { _id?: unknown };
  return isObjectId(_id) ? String(_id) : undefined;
}

/** Selects the entity with an identifier, which is not cast. */
export function byStoredId({ _id }: { readonly _id: unknown }): Filter {
  return { _id: markCompiled({ $eq: _id }) };
}

/** Casts a value to what is stored in a field that names entities; `undefined` if it cannot be there. */
export function castKey(value: unknown, field: FieldShape | undefined): unknown {
  if (field?.type === undefined || value === null) return undefined;
  const key = new BodyCast().value(value, field);
  return key === undefined ? undefined : castForQuery(field.type, key);
}

const DECIMAL = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i;

/** The form of the texts in paths that name a value of each type. Mongoose would cast others too, such as `" "` to 0. */
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

/** Casts a text of a path to what is stored in a field that names entities; `undefined` if it names none. */
export function castPathKey(text: string, field: FieldShape | undefined): unknown {
  const instance = field?.type?.instance ?? "";
  const isOfType = FORM_OF_KEY[instance]?.test(text) ?? true;
  if (!isOfType || instance === "Date" && !isInCalendar(text)) return undefined;
  return castKey(text, field) ?? undefined;
}

/** Whether the day at the beginning of a text exists: the runtime would read February 30 as March 2. */
function isInCalendar(text: string): boolean {
  const [day = ""] = /^.?\d+-\d\d-\d\d/.exec(text) ?? [];
  const read = new Date(day);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(`${day}T`);
}

/** Selects the entity that a text names by a field; `undefined` for a text that names none. */
export function byKey(text: string, { by = "_id", shape }: KeyField): Filter | undefined {
  if (by === "_id") return byIdentifier(text);
  const key = castPathKey(text, shape.fields.get(by));
  return key === undefined ? undefined : { [by]: markCompiled({ $eq: key }) };
}

interface KeyField {
  readonly by?: string | undefined;
  readonly shape: Shape;
}

export function documentOf(entity: object): Document {
  if (isDocument(entity)) return entity;
  throw new TypeError("Cannot write a plain object: the operation needs a persist hook");
}

/** The bonds of a save of an action. After the first one, the client need not have selected the entity. */
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

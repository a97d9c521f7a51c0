import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { copyJson, isJsonObject, MARK_KEYS } from "../../fields/json.ts";
import { memoize } from "../../memoize.ts";
import { markOwn } from "../schemas/schema_members.ts";

const { Types } = mongoose.Schema;

/**
 * Mongoose would use some stored keys as members: throw at `{ toString: "x" }`, and show `{ _bsontype: "ObjectId" }` as
 * an identifier.
 */
export const dropUnreadable = memoize((schema: Schema): true => {
  const drop = markOwn(function (this: Document, stored: object): void {
    // The root document has already handled its embedded documents.
    if (this instanceof mongoose.Types.Subdocument) return;
    dropWithin(stored, { schema: this.schema as Schema, prefix: "" });
  });
  schema.pre("init", drop as never);
  return true;
});

export function readableCopy(value: unknown, type: SchemaType): unknown {
  const holder = { value: copyJson(value) };
  dropOfType(holder, { name: "value", type });
  return holder.value;
}

interface SchemaPath {
  readonly schema: Schema;
  /** The beginning of a path, with a final dot. Empty for an object with a schema. */
  readonly prefix: string;
}

function dropWithin(stored: unknown, { schema, prefix }: SchemaPath): void {
  if (Array.isArray(stored)) {
    return stored.forEach((each) => dropWithin(each, { schema, prefix }));
  }
  if (!isJsonObject(stored)) return;
  const values = stored as Record<string, unknown>;
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (!Array.isArray(value) && !isJsonObject(value)) continue;
    const path = `${prefix}${name}`;
    // A stored key may be named `constructor`.
    const type = Object.hasOwn(schema.paths, path) ? schema.paths[path] : undefined;
    if (type !== undefined) dropOfType(values, { name, type });
    else if (schema.pathType(path) === "nested") dropWithin(value, { schema, prefix: `${path}.` });
    // A field of a discriminator has no known type here, so any unreadable value is dropped.
    else if (schema.discriminators !== undefined && isUnreadable(value)) delete values[name];
  }
}

interface KindSchema extends Schema {
  readonly discriminatorMapping?: { readonly value?: unknown };
}

interface EmbeddedType extends SchemaType {
  readonly schema: Schema;
  readonly Constructor?: {
    readonly discriminators?: Readonly<Record<string, { readonly schema: KindSchema }>> | null;
  };
}

function schemaFor(stored: unknown, { schema, Constructor }: EmbeddedType): Schema {
  const named: unknown = Object(stored)[String(schema.get("discriminatorKey"))];
  const kinds = Object.values(Constructor?.discriminators ?? {});
  return kinds.find((kind) => kind.schema.discriminatorMapping?.value === named)?.schema ?? schema;
}

function dropOfType(
  values: Record<string, unknown>,
  { name, type }: { readonly name: string; readonly type: SchemaType },
): void {
  const value = values[name];
  if ((type as EmbeddedType).schema !== undefined) {
    for (const each of [value].flat()) {
      dropWithin(each, { schema: schemaFor(each, type as EmbeddedType), prefix: "" });
    }
    return;
  }
  if (type instanceof Types.Map) {
    const element = type.getEmbeddedSchemaType() as SchemaType | undefined;
    if (Array.isArray(value) && isUnreadable(value)) delete values[name];
    if (element === undefined || !isJsonObject(value)) return;
    const held = value as Record<string, unknown>;
    const keys = Object.keys(held);
    if (keys.some((key) => REFUSED_KEY.test(key))) delete values[name];
    for (const key of keys) dropOfType(held, { name: key, type: element });
    // Mongoose reads a Map only as a whole, so an unreadable value drops the Map.
    if (Object.keys(held).length < keys.length) delete values[name];
    return;
  }
  // Mongoose calls no members of array elements, does not cast free-form values, and reads only the identifier of a
  // reference.
  if (type instanceof Types.Array || type instanceof Types.Mixed) return;
  if (type.options.ref === undefined && isUnreadable(value)) delete values[name];
}

/** Mongoose throws when it reads a Map with one of these keys. */
const REFUSED_KEY = /^\$|\.|^(?:__proto__|constructor|prototype)$/;

const UNREADABLE_KEYS = [...MARK_KEYS, "toString"];

function isUnreadable(value: unknown): boolean {
  if (isJsonObject(value)) {
    return UNREADABLE_KEYS.some((key) => Object.hasOwn(value, key));
  }
  if (!Array.isArray(value)) return false;
  try {
    return String(value) === undefined;
  } catch {
    return true;
  }
}

import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { copyJson, isJsonObject, MARK_KEYS } from "../../fields/json.ts";
import { memoize } from "../../memoize.ts";
import { markOwn } from "../schemas/schema_members.ts";

const { Types } = mongoose.Schema;

/**
 * Mongoose would use some keys of a stored object as members. It would throw when it writes `{ toString: "x" }` into
 * the message of an error, and would show `{ _bsontype: "ObjectId" }` as an identifier.
 */
export const dropUnreadable = memoize((schema: Schema): true => {
  const drop = markOwn(function (this: Document, stored: object): void {
    // Mongoose runs the middleware of `init` for embedded documents as well, but the root document has already removed
    // unreadable objects at any depth.
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

interface Place {
  readonly schema: Schema;
  /** The path of a nested path of Mongoose, with a dot at its end. Empty for an object with a separate schema. */
  readonly prefix: string;
}

function dropWithin(stored: unknown, { schema, prefix }: Place): void {
  if (Array.isArray(stored)) {
    return stored.forEach((each) => dropWithin(each, { schema, prefix }));
  }
  if (!isJsonObject(stored)) return;
  const values = stored as Record<string, unknown>;
  for (const name of Object.keys(values)) {
    const value = values[name];
    // Most objects in a document are dates and identifiers, which Mongoose can always read. Documents are made often,
    // so they are skipped first.
    if (!Array.isArray(value) && !isJsonObject(value)) continue;
    const path = `${prefix}${name}`;
    // A stored key may have the name of a member of every object, such as `constructor`.
    const type = Object.hasOwn(schema.paths, path) ? schema.paths[path] : undefined;
    if (type !== undefined) dropOfType(values, { name, type });
    else if (schema.pathType(path) === "nested") dropWithin(value, { schema, prefix: `${path}.` });
    // A discriminator may declare a field that its base does not declare, and Mongoose would read its value.
    else if (schema.discriminators !== undefined && isUnreadable(value)) delete values[name];
  }
}

interface KindSchema extends Schema {
  readonly discriminatorMapping?: { readonly value?: unknown };
}

/** `Constructor` is Mongoose's class of the embedded objects, which has the schemas of their discriminators. */
interface EmbeddedType extends SchemaType {
  readonly schema: Schema;
  readonly Constructor?: {
    readonly discriminators?: Readonly<Record<string, { readonly schema: KindSchema }>> | null;
  };
}

/** The schema of the discriminator, or of the base. */
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
    // Mongoose reads a Map only as a whole.
    if (Object.keys(held).length < keys.length) delete values[name];
    return;
  }
  // Mongoose formats an array without calling members of its elements, does not cast free-form values, and reads only
  // the identifier of an object in place of a reference.
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

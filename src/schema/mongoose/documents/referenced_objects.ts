import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { isJsonObject } from "../../fields/json.ts";
import { memoize } from "../../memoize.ts";
import { isDocument } from "../bson.ts";
import { markOwn, schemasWithin, typesWithin } from "../schemas/schema_members.ts";

interface InitOptions {
  readonly populated?: readonly { readonly path: string }[];
  /** With this option of `hydrate()`, the document must keep populated entities. */
  readonly hydratedPopulatedDocs?: boolean;
}

/**
 * Mongoose would make an entity of an object in place of a reference, and show its fields with `select: false`. The
 * references are collected once, so the schema must be complete.
 */
export const dropReferencedObjects = memoize((schema: Schema): true => {
  if (referencesOf(schema).length === 0) return true;
  const drop = markOwn(function (this: Document, stored: object, options: InitOptions = {}): void {
    // The root document has already handled its embedded documents.
    if (this instanceof mongoose.Types.Subdocument || options.hydratedPopulatedDocs) return;
    const populated = new Set(options.populated?.map(({ path }) => path));
    dropWithin(stored, { schema, prefix: "", populated });
  });
  schema.pre("init", drop as never);
  return true;
});

interface ReferencePath {
  /** A path, or the beginning of a path: empty or with a final dot. */
  readonly prefix: string;
  readonly populated: ReadonlySet<string>;
}

function dropWithin(
  stored: unknown,
  { schema, ...place }: ReferencePath & { schema: Schema },
): void {
  if (Array.isArray(stored)) {
    return stored.forEach((each) => dropWithin(each, { schema, ...place }));
  }
  for (const { path, type } of referencesOf(schema)) {
    const names = path.split(".");
    const name = names.pop() as string;
    const holder = names.reduce((at, each) => isJsonObject(at) ? at[each] : undefined, stored);
    if (!isJsonObject(holder) || !Object.hasOwn(holder, name)) continue;
    const at = { ...place, prefix: `${place.prefix}${path}` };
    (holder as Record<string, unknown>)[name] = withIdentifiers(holder[name], { type, ...at });
  }
}

interface TypeInternals {
  readonly schema?: Schema;
  readonly embeddedSchemaType?: SchemaType;
}

function withIdentifiers(
  value: unknown,
  { type, prefix, populated }: ReferencePath & { type: SchemaType },
) {
  const { schema, embeddedSchemaType: element } = type as TypeInternals;
  if (schema !== undefined) {
    dropWithin(value, { schema, prefix: `${prefix}.`, populated });
    return value;
  }
  const read = (each: unknown): unknown => {
    if (Array.isArray(each) && element !== undefined) return each.map(read);
    return isReferencedObject(each) ? identifierIn(each) : each;
  };
  if (type instanceof mongoose.Schema.Types.Map) {
    if (!isJsonObject(value) || populated.has(`${prefix}.$*`)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, read(each)]));
  }
  if (!populated.has(prefix)) return read(value);
  // `populate()` would leave an array that is stored in place of an identifier, and show its content.
  if (!Array.isArray(value)) return value;
  return element === undefined ? null : value.filter((each) => !Array.isArray(each));
}

const IDENTIFIERS = /^(ObjectI[dD]|Binary|UUID|Decimal128|Long|Int32|Double|Timestamp)$/;

function isReferencedObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null || isDocument(value)) return false;
  if (value instanceof Date || value instanceof Uint8Array) return false;
  return !("_bsontype" in value) || Object.hasOwn(value, "_bsontype") ||
    !IDENTIFIERS.test(String(value._bsontype));
}

function identifierIn(object: unknown): unknown {
  // The driver decodes an object with `$ref` and `$id` as a `DBRef`, whose identifier is `oid`.
  const { _id, oid = _id } = object as { _id?: unknown; oid?: unknown };
  return oid === undefined || isReferencedObject(oid) ? null : oid;
}

const referencesOf = memoize((schema: Schema) =>
  Object.entries(schema.paths)
    .filter(([path, type]) => !path.includes("$*") && typesWithin(type).some(holdsReferences))
    .map(([path, type]) => ({ path, type }))
);

function holdsReferences(type: SchemaType): boolean {
  const { schema } = type as TypeInternals;
  const within = schema === undefined
    ? [type]
    : [...schemasWithin(schema)].flatMap(({ paths }) => Object.values(paths)).flatMap(typesWithin);
  return within.some(({ options }) => options.ref !== undefined || options.refPath !== undefined);
}

import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { isJsonObject } from "../../fields/json.ts";
import { isDocument } from "../bson.ts";
import { markOwnMiddleware, schemasWithin, typesWithin } from "../schemas/schema_members.ts";

/** BSON types of the driver that may be identifiers. */
const IDENTIFIERS: ReadonlySet<unknown> = new Set([
  ...["ObjectId", "ObjectID", "Binary", "UUID", "Decimal128", "Long", "Int32", "Double"],
  ...["BSONSymbol", "Timestamp"],
]);

/** What Mongoose gives to middleware of `init`. */
interface InitOptions {
  readonly populated?: readonly { readonly path: string }[];
  /** Whether the host's values hold populated entities. */
  readonly hydratedPopulatedDocs?: boolean;
}

const guarded = new WeakSet<Schema>();

/**
 * Has documents read an object that is stored in the place of a reference as the identifier in it, or as `null`: a program
 * that embeds entities, or did so before, may have stored it. Mongoose would make an entity of it, which shows clients fields
 * with `select: false` and their defaults.
 */
export function readStrayReferences(schema: Schema): void {
  if (!guarded.has(schema) && hasReferences(schema)) {
    schema.pre("init", readStrays as never);
  }
  guarded.add(schema);
}

function readStrays(this: Document, stored: unknown, options: InitOptions = {}): void {
  // A document reads what it embeds as well.
  if (this instanceof mongoose.Types.Subdocument || options.hydratedPopulatedDocs) return;
  const populated = new Set(options.populated?.map(({ path }) => path));
  fitWithin(stored, { schema: this.schema, prefix: "", populated });
}
markOwnMiddleware(readStrays);

export function hasReferences(schema: Schema): boolean {
  return referencesOf(schema).length > 0;
}

/** Does the same to stored values, before they are populated. */
export function fitReferences<T extends object>(stored: T, schema: Schema): T {
  fitWithin(stored, { schema, prefix: "", populated: NOTHING });
  return stored;
}

const NOTHING: ReadonlySet<string> = new Set();

interface Spot {
  readonly schema: Schema;
  readonly prefix: string;
  readonly populated: ReadonlySet<string>;
}

/** Does the same to stored values, in place. */
function fitWithin(stored: unknown, spot: Spot): void {
  for (const each of Array.isArray(stored) ? stored : [stored]) {
    for (const { names, type } of isJsonObject(each) ? referencesOf(spot.schema) : []) {
      const holder = names.slice(0, -1).reduce(valueIn, each);
      const [name = ""] = names.slice(-1);
      if (!isJsonObject(holder) || !Object.hasOwn(holder, name)) continue;
      const at = { type, path: `${spot.prefix}${names.join(".")}`, populated: spot.populated };
      (holder as Record<string, unknown>)[name] = fitted(holder[name], at);
    }
  }
}

function valueIn(holder: unknown, name: string): unknown {
  return isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}

interface ReadReference {
  readonly type: SchemaType;
  readonly path: string;
  readonly populated: ReadonlySet<string>;
}

function fitted(value: unknown, { type, path, populated }: ReadReference): unknown {
  const { schema, embeddedSchemaType: element } = type as Inside;
  if (schema !== undefined) {
    fitWithin(value, { schema, prefix: `${path}.`, populated });
    return value;
  }
  if (element === undefined) return populated.has(path) ? populatedIn(value) : identifierIn(value);
  if (!(type instanceof mongoose.Schema.Types.Map)) {
    const at = { type: element, path, populated };
    return Array.isArray(value) ? value.map((each) => fitted(each, at)) : fitted(value, at);
  }
  const at = { type: element, path: `${path}.$*`, populated };
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fitted(each, at)]))
    : value;
}

/** Gives what a query has populated. It leaves lists as they are stored: Mongoose would make entities of what they hold. */
function populatedIn(value: unknown): unknown {
  return Array.isArray(value) ? null : value;
}

/** Gives what a reference can hold. */
function identifierIn(value: unknown): unknown {
  if (!isStray(value)) return value;
  // The driver reads `$ref` and `$id` as an object of its own.
  const { _id, oid = _id } = value as { _id?: unknown; oid?: unknown };
  return oid === undefined || isStray(oid) ? null : oid;
}

/** Whether a value holds others. */
function isStray(value: unknown): boolean {
  if (typeof value !== "object" || value === null || isDocument(value)) return false;
  if (Array.isArray(value)) return value.some(isStray);
  if (value instanceof Date || value instanceof Uint8Array) return false;
  return !("_bsontype" in value) || !IDENTIFIERS.has(value._bsontype);
}

/** What types hold: the schema of what is embedded, the type of elements or of a Map's values. */
interface Inside {
  readonly schema?: Schema;
  readonly embeddedSchemaType?: SchemaType;
}

interface Reference {
  readonly names: readonly string[];
  readonly type: SchemaType;
}

const known = new WeakMap<Schema, readonly Reference[]>();

/** The paths of a schema that are references, or hold some. */
function referencesOf(schema: Schema): readonly Reference[] {
  let references = known.get(schema);
  if (references === undefined) known.set(schema, references = findReferences(schema));
  return references;
}

function findReferences(schema: Schema): Reference[] {
  const references: Reference[] = [];
  schema.eachPath((path: string, type: SchemaType) => {
    if (path.includes("$*") || !typesWithin(type).some(holdsReferences)) return;
    references.push({ names: path.split("."), type });
  });
  return references;
}

function holdsReferences(type: SchemaType): boolean {
  const { schema } = type as Inside;
  if (schema === undefined) return isReference(type);
  return [...schemasWithin(schema)].some((each) =>
    Object.values(each.paths).some((inner) => typesWithin(inner).some(isReference))
  );
}

function isReference({ options }: SchemaType): boolean {
  const { ref, refPath } = options as { ref?: unknown; refPath?: unknown };
  return ref !== undefined || refPath !== undefined;
}

// Other programs may have stored what does not fit a schema. Documents read it as docs/wrongly_typed.md says: where
// Mongoose would fail, or read something else, it gets other values in its place.
import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { isJsonObject, MONGOOSE_MARKS } from "../../fields/json.ts";
import { asVersion } from "../../fields/system_fields.ts";
import type { Version } from "../../fields/system_fields.ts";
import { memoize } from "../../memoize.ts";
import { isDocument } from "../bson.ts";
import { rawValues } from "./document_values.ts";
import { markOwn, schemasWithin, typesWithin } from "../schemas/schema_members.ts";

const { DocumentArray, Map: MapType, Subdocument } = mongoose.Schema.Types;

type Values = Record<string, unknown>;

type Populated = readonly { readonly path: string }[];

interface InitOptions {
  readonly populated?: Populated;
  /** Whether the host's values hold populated entities. */
  readonly hydratedPopulatedDocs?: boolean;
}

export function fitOnInit(schema: Schema): void {
  const versionKey: unknown = schema.get("versionKey");
  const fit = markOwn(function (this: Document, stored: Values, options: InitOptions = {}): void {
    // A document does this for all that it embeds.
    if (!(this instanceof mongoose.Types.Subdocument)) {
      dropMarks(stored);
      const { populated, hydratedPopulatedDocs } = options;
      if (!hydratedPopulatedDocs) fitReferences(stored, { schema, populated });
    }
    if (typeof versionKey === "string") fitVersion(stored, { key: versionKey, doc: this });
    const misread = fitMembers(stored, schema);
    if (misread.length > 0) misreadArrays.set(this, misread);
  });
  schema.pre("init", fit as never);
  if (readersOf(schema).length > 0) schema.pre("save", writeWhole);
}

/** Does to stored values, all that they embed included, what documents do: Mongoose applies a projection before that. */
export function fitStored(schema: Schema, stored: unknown): void {
  if (Array.isArray(stored)) stored.forEach((each) => fitStored(schema, each));
  if (!isJsonObject(stored)) return;
  fitMembers(stored as Values, schema);
  for (const { path, type } of readersOf(schema)) {
    const { schema: inner } = type as TypeInternals;
    if (inner !== undefined) fitStored(inner, stored[path]);
  }
}

/** Removes what stands under keys by which Mongoose knows its own values: it would take data for these, and fail. */
export function dropMarks(stored: unknown): void {
  if (Array.isArray(stored)) return stored.forEach(dropMarks);
  if (!isJsonObject(stored)) return;
  for (const key of Object.keys(stored)) {
    if (MONGOOSE_MARKS.has(key)) delete (stored as Values)[key];
    else if (typeof stored[key] === "object") dropMarks(stored[key]);
  }
}

interface TypeInternals {
  readonly schema?: Schema;
  readonly embeddedSchemaType?: SchemaType;
}

/** Documents that were read with something else in the place of their version: Mongoose would make a number of it. */
const oddVersions = new WeakSet<Document>();

function fitVersion(stored: Values, { key, doc }: { key: string; doc: Document }): void {
  const version = stored[key];
  const read = asVersion(version);
  if (version !== undefined && read === null) oddVersions.add(doc);
  // Mongoose has no number for what a connection reads as BigInt.
  if (typeof version === "bigint" && read !== null) stored[key] = read;
}

export function versionOf(doc: Document, key: string): Version {
  if (oddVersions.has(doc)) return null;
  const values = rawValues(doc);
  return asVersion(Object.hasOwn(values, key) ? values[key] : doc.get(key));
}

/** The paths of arrays that a document has read otherwise than they are stored. */
const misreadArrays = new WeakMap<Document, readonly string[]>();

/** The positions in such an array are not those that are stored: a change in it writes it whole. */
const writeWhole = markOwn(function (this: Document): void {
  for (const path of misreadArrays.get(this) ?? []) {
    if (this.isModified(path)) this.markModified(path);
  }
});

/** Puts in place what is to be read; gives the paths of arrays that are read otherwise than they are stored. */
function fitMembers(stored: Values, schema: Schema): string[] {
  const arrays: string[] = [];
  for (const { path, read } of readersOf(schema)) {
    const value = stored[path];
    if (value === undefined || value === null) continue;
    const fitting = read(value);
    if (fitting === value) continue;
    stored[path] = fitting;
    if (Array.isArray(value)) arrays.push(path);
  }
  return arrays;
}

interface Reader {
  readonly path: string;
  readonly type: SchemaType;
  readonly read: (value: unknown) => unknown;
}

const readersOf = memoize((schema: Schema): readonly Reader[] =>
  Object.entries(schema.paths).flatMap(([path, type]) => {
    const read = path.includes(".") ? undefined : readerOf(type);
    return read === undefined ? [] : [{ path, type, read }];
  })
);

function readerOf(type: SchemaType): Reader["read"] | undefined {
  if (type instanceof DocumentArray) return readElements;
  if (type instanceof MapType) return readEntries;
  // Mongoose refuses a boolean, and takes other classes than a plain object for one.
  return type instanceof Subdocument ? (value) => isMisfit(value) ? true : value : undefined;
}

/** A list becomes an object of its positions, which is written whole: no key can be set in a list. */
function readEntries(value: unknown): unknown {
  if (Array.isArray(value)) return { ...value };
  return isMisfit(value) ? undefined : value;
}

/** Clients would miss a whole array for one element that is no object. */
function readElements(value: unknown): unknown {
  if (!Array.isArray(value)) return isObject(value) ? value : [];
  return value.every(isObject) ? value : value.filter(isObject);
}

function isObject(value: unknown): boolean {
  return value === null || value === undefined || isJsonObject(value) || isDocument(value);
}

function isMisfit(value: unknown): boolean {
  return !Array.isArray(value) && !isObject(value);
}

/** BSON types of the driver that may be identifiers. */
const IDENTIFIERS: ReadonlySet<unknown> = new Set([
  ...["ObjectId", "ObjectID", "Binary", "UUID", "Decimal128", "Long", "Int32", "Double"],
  ...["BSONSymbol", "Timestamp"],
]);

interface ReferenceOptions {
  readonly schema: Schema;
  /** The path of the values, with a dot, if something else holds them. */
  readonly prefix?: string;
  /** The paths that a query has populated already. */
  readonly populated?: Populated | undefined;
}

/**
 * Replaces objects that are stored in the place of references by the identifier in them, or by `null`: a program that
 * embeds entities, or did so before, may have stored them. Mongoose would make entities of them, which show clients fields
 * with `select: false` and their defaults.
 */
export function fitReferences(stored: unknown, options: ReferenceOptions): void {
  const { schema, prefix = "", populated = [] } = options;
  const references = referencesOf(schema);
  if (references.length === 0) return;
  for (const each of Array.isArray(stored) ? stored : [stored]) {
    for (const { names, type } of isJsonObject(each) ? references : []) {
      const holder = names.slice(0, -1).reduce(memberOf, each);
      const name = names.at(-1) ?? "";
      if (!isJsonObject(holder) || !Object.hasOwn(holder, name)) continue;
      const at = { type, path: `${prefix}${names.join(".")}`, populated };
      (holder as Values)[name] = fitted(holder[name], at);
    }
  }
}

function memberOf(holder: unknown, name: string): unknown {
  return isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}

interface ReferencePlace {
  readonly type: SchemaType;
  readonly path: string;
  readonly populated: Populated;
}

function fitted(value: unknown, { type, path, populated }: ReferencePlace): unknown {
  const { schema, embeddedSchemaType: element } = type as TypeInternals;
  if (schema !== undefined) {
    fitReferences(value, { schema, prefix: `${path}.`, populated });
    return value;
  }
  if (element === undefined) {
    // A query leaves lists as they are stored: Mongoose would make entities of what they hold.
    if (populated.some((each) => each.path === path)) return Array.isArray(value) ? null : value;
    return isStray(value) ? identifierIn(value) : value;
  }
  if (!(type instanceof MapType)) {
    const at = { type: element, path, populated };
    return Array.isArray(value) ? value.map((each) => fitted(each, at)) : fitted(value, at);
  }
  if (!isJsonObject(value)) return value;
  const at = { type: element, path: `${path}.$*`, populated };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fitted(each, at)]));
}

function identifierIn(value: unknown): unknown {
  // The driver reads `$ref` and `$id` as an object of its own.
  const { _id, oid = _id } = value as { _id?: unknown; oid?: unknown };
  return oid === undefined || isStray(oid) ? null : oid;
}

/** Whether a value holds others, so that it is no identifier. */
function isStray(value: unknown): boolean {
  if (typeof value !== "object" || value === null || isDocument(value)) return false;
  if (Array.isArray(value)) return value.some(isStray);
  if (value instanceof Date || value instanceof Uint8Array) return false;
  return !("_bsontype" in value) || !IDENTIFIERS.has(value._bsontype);
}

interface Reference {
  readonly names: readonly string[];
  readonly type: SchemaType;
}

const referencesOf = memoize((schema: Schema): readonly Reference[] =>
  Object.entries(schema.paths)
    .filter(([path, type]) => !path.includes("$*") && typesWithin(type).some(holdsReferences))
    .map(([path, type]) => ({ names: path.split("."), type }))
);

function holdsReferences(type: SchemaType): boolean {
  const { schema } = type as TypeInternals;
  const within = schema === undefined
    ? [type]
    : [...schemasWithin(schema)].flatMap(({ paths }) => Object.values(paths)).flatMap(typesWithin);
  return within.some(({ options }) => {
    const { ref, refPath } = options as { ref?: unknown; refPath?: unknown };
    return ref !== undefined || refPath !== undefined;
  });
}

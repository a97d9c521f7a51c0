import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { isJsonObject, MONGOOSE_MARKS } from "../../fields/json.ts";
import { isDocument } from "../bson.ts";
import { markOwnMiddleware } from "../schemas/schema_members.ts";

const { DocumentArray, Map: MapType, Subdocument } = mongoose.Schema.Types;

/** The stored arrays that a document has read otherwise. */
const reread = new WeakMap<Document, Set<string>>();

/**
 * Has documents read what is stored in the place of embedded objects as docs/wrongly_typed.md says. Clients would otherwise
 * miss a whole array for one element that is no object, and a patch of a list in the place of a Map would be a 500.
 */
export function readMisfits(schema: Schema): void {
  if (readersOf(schema).length === 0) return;
  const read = function (this: Document, stored: Record<string, unknown>): void {
    for (const path of fit(schema, stored)) remember(this, path);
  };
  markOwnMiddleware(read);
  schema.pre("init", read as never);
  schema.pre("save", writeWhole);
}

/** Does the same to stored values, all that they embed included, before Mongoose applies a projection to them. */
export function fitStored(schema: Schema, stored: unknown): void {
  if (Array.isArray(stored)) stored.forEach((each) => fitStored(schema, each));
  if (!isJsonObject(stored)) return;
  fit(schema, stored as Record<string, unknown>);
  for (const { path, type } of readersOf(schema)) {
    const { schema: inner } = type as { schema?: Schema };
    if (inner !== undefined) fitStored(inner, stored[path]);
  }
}

/** Puts in place what is to be read; gives the paths of arrays that are read otherwise than they are stored. */
function fit(schema: Schema, stored: Record<string, unknown>): string[] {
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
  /** Gives what a document is to read in the place of a stored value. */
  readonly read: (value: unknown) => unknown;
}

const known = new WeakMap<Schema, readonly Reader[]>();

function readersOf(schema: Schema): readonly Reader[] {
  const readers = known.get(schema) ?? findReaders(schema);
  known.set(schema, readers);
  return readers;
}

function findReaders(schema: Schema): Reader[] {
  const readers: Reader[] = [];
  schema.eachPath((path: string, type: SchemaType) => {
    const read = path.includes(".") ? undefined : readerOf(type);
    if (read !== undefined) readers.push({ path, type, read });
  });
  return readers;
}

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

function remember(doc: Document, path: string): void {
  const paths = reread.get(doc);
  if (paths === undefined) reread.set(doc, new Set([path]));
  else paths.add(path);
}

/** The positions in such an array are not those that are stored: a change in it writes it whole. */
function writeWhole(this: Document): void {
  for (const path of reread.get(this) ?? []) {
    if (this.isModified(path)) this.markModified(path);
  }
}
markOwnMiddleware(writeWhole);

/** Has documents read nothing under keys by which Mongoose knows its own values: it would take data for these, and fail. */
export function dropMarksOnInit(schema: Schema): void {
  schema.pre("init", dropStored as never);
}

function dropStored(this: Document, stored: unknown): void {
  // The document around it has done so.
  if (!(this instanceof mongoose.Types.Subdocument)) dropMarks(stored);
}
markOwnMiddleware(dropStored);

/** Does the same to stored values, before Mongoose applies a projection to them. */
export function dropMarks(stored: unknown): void {
  if (Array.isArray(stored)) return stored.forEach(dropMarks);
  if (!isJsonObject(stored)) return;
  for (const key of Object.keys(stored)) {
    if (MONGOOSE_MARKS.has(key)) delete (stored as Record<string, unknown>)[key];
    else if (typeof stored[key] === "object") dropMarks(stored[key]);
  }
}

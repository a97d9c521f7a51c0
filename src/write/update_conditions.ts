import mongoose from "mongoose";
import type { Connection, Document, Schema } from "mongoose";
import { conflict, outOfReach } from "../errors/refusals.ts";
import { fieldsRead, type Filter, hasOneOf, isEmpty, topOf } from "../filter/filters.ts";
import { fieldsOn } from "../filter/q/resolve_path.ts";
import { describeShape, type Shape } from "../schema/fields/shape.ts";
import { asVersion, versionKeyOf } from "../schema/fields/system_fields.ts";
import { deltaOf } from "../schema/mongoose/documents/document_values.ts";
import { isTiedToVersion } from "../schema/mongoose/statements/save_by.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import type { SaveDocumentOptions } from "./save_document.ts";
import { copyJson, isJsonObject } from "../schema/fields/json.ts";
import { aggregateValues, inCommands } from "../schema/mongoose/statements/commands.ts";
import type { UpdateStatement } from "../schema/mongoose/statements/commands.ts";
import { putAt, storedText, valueAt, valuesToStore } from "./stored_values.ts";
import type { Snapshot, StoredObject } from "./stored_values.ts";

interface BoundOptions extends SaveDocumentOptions {
  readonly kept: Snapshot;
}

export interface BoundUpdate {
  readonly statement: UpdateStatement;
  /** The document as it would be stored, where that has to be inside the scope. */
  readonly changed?: StoredObject;
  /** The path of the version, and what it is afterwards. */
  readonly key: string | undefined;
  readonly version: number;
}

/**
 * Gives the update that saves a document. It counts the version, and is bound to the scope, to the filter, and to that
 * nothing of what it depends on has changed since the document was read.
 */
export function boundUpdate(
  doc: Document,
  { scope, filter, collation, overwrites, kept }: BoundOptions,
): BoundUpdate {
  const { values, isSent } = kept;
  const { $where: own = {} } = doc as { $where?: Filter };
  const key = versionKeyOf(doc);
  const isTied = isTiedToVersion(doc);
  const { where, changes } = deltaOf(doc);
  const version = key === undefined ? null : asVersion(values[key] ?? doc.get(key));
  const read = fieldsRead(scope);
  const isTouched = read === undefined ||
    writtenPaths(changes).some((path) => read.has(topOf(path)));
  const reading = { shape: describeShape(doc.schema as Schema), stored: values };
  const paths = [
    replacedPaths(changes, { ...reading, overwrites }),
    isTouched ? read && [...read].filter((path) => !Object.hasOwn(changes.$set ?? {}, path)) : [],
    // A collation would hold for the other conditions, too: the filter is left out, and what it reads must be unchanged.
    collation === undefined ? [] : fieldsRead(filter),
  ];
  const all = [
    own,
    scope,
    collation === undefined ? filter : {},
    ...enteredObjects(changes, reading).map(isObjectAt),
    unchanged(paths, { kept, sameVersion: key === undefined ? {} : hasOneOf(key, [version]) }),
    key !== undefined && values[key] === null ? hasOneOf(key, [null]) : {},
  ].filter((each) => !isEmpty(each));
  // Mongoose binds arrays and numeric keys to the version, which every change of another field counts up.
  if (key !== undefined && !(isTied && version !== null)) delete where[key];
  // The wrapper keeps a condition on `_id` from taking the place of the document's own.
  const q = { ...where, ...all.length > 0 && { $and: all } };
  const statement = { q, u: counted(changes, { key, values }) };
  const bound = { statement, key, version: (version ?? 0) + 1 };
  // What a hook has read can be outside already.
  if (isEmpty(scope) || !isTouched && isSent) return bound;
  const changed = setFields({ ...values }, changedFields(doc, changes, { read: values }));
  return { ...bound, changed };
}

/** Has an update count the version once, whatever hooks have done to it. */
function counted(
  changes: Update,
  { key, values }: { readonly key: string | undefined; readonly values: StoredObject },
): Update {
  if (key === undefined) return isEmpty(changes) ? { $set: {} } : changes;
  const update: Record<string, Record<string, unknown>> = {};
  for (const [operator, paths] of Object.entries(changes)) {
    const { [key]: _counted, ...others } = paths;
    if (!isEmpty(others)) update[operator] = others;
  }
  // The database counts on from nothing, and not from null: of several changes then, one is bound to be the first.
  const operator = values[key] === null ? "$set" : "$inc";
  return { ...update, [operator]: { ...update[operator], [key]: 1 } };
}

/** The condition that what was read at some paths, or all of it, is stored; or else that the version is the same. */
function unchanged(
  all: readonly (Iterable<string> | undefined)[],
  { sameVersion, kept: { values, isSent } }: {
    readonly sameVersion: Filter;
    readonly kept: Snapshot;
  },
): Filter {
  const hasVersion = !isEmpty(sameVersion);
  if (all.includes(undefined)) {
    return hasVersion ? sameVersion : { $expr: sameAsStored("$$ROOT", values) };
  }
  const paths = all.flatMap((each) => [...each ?? []]);
  if (paths.length === 0) return {};
  const same = { $and: paths.map((path) => unchangedAt(path, values)) };
  // One statement has 16 MB, and holds what is written as well.
  if (hasVersion && mongoose.mongo.BSON.calculateObjectSize(same) > 1024 * 1024) return sameVersion;
  const isCertain = isSent && paths.every((path) => isExact(valueAt(values, path)));
  return isCertain || !hasVersion ? same : { $or: [same, sameVersion] };
}

/** Gives the condition that a path is stored as it was read. To documents, a missing array is an empty one. */
export function unchangedAt(path: string, stored: Filter): Filter {
  const value = valueAt(stored, path);
  const isMissing = { [path]: { $exists: false } };
  if (value === undefined) return isMissing;
  if (Array.isArray(value) && value.length === 0) {
    return { $or: [{ [path]: { $size: 0 } }, isMissing] };
  }
  // `null` alone would match missing fields and elements of lists as well.
  if (value === null) return { [path]: { $type: "null", $not: { $type: "array" } } };
  return { [path]: { $eq: value } };
}

/** Whether a value is certainly the same when it goes back: objects here sort their numeric keys. */
export function isExact(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isExact);
  if (!isJsonObject(value)) return true;
  const keys = Object.keys(value);
  return (keys.length < 2 || !keys.some((key) => /^\d+$/.test(key))) &&
    Object.values(value).every(isExact);
}

export function sameAsStored(expression: string, value: unknown): object {
  return { $eq: [expression, { $literal: value }] };
}

/** Throws a 403 unless all values are inside a scope: the database matches them, without storing them, where it must. */
export async function checkScope(
  all: readonly StoredObject[],
  { scope, connection }: { readonly scope: Filter; readonly connection: Connection },
): Promise<void> {
  for (const sent of inCommands(all.filter((values) => !isKnownWithin(values, scope)))) {
    const stages = [{ $match: scope }, { $count: "count" }];
    const [found] = await aggregateValues({ connection, values: sent, stages });
    if (Number(found?.count ?? 0) < sent.length) throw outOfReach();
  }
}

/** Whether values are certainly inside a scope of equalities. With `false`, the database must tell. */
function isKnownWithin(values: Filter, scope: Filter): boolean {
  return Object.entries(scope).every(([path, value]) =>
    path === "$and" && Array.isArray(value)
      ? value.every((each) => isKnownWithin(values, each))
      : !path.includes(".") && isEqual(values[path], value)
  );
}

function isEqual(value: unknown, expected: unknown): boolean {
  if (expected instanceof mongoose.Types.ObjectId) {
    // ObjectId.equals() takes texts and look-alikes for identifiers, which the database does not.
    return value instanceof mongoose.Types.ObjectId && expected.equals(value);
  }
  return ["string", "number", "boolean"].includes(typeof expected) && value === expected;
}

/** Gives the top-level fields that an update writes, as they are then; a 409 if a value that it counts on has changed. */
export function changedFields(
  doc: Document,
  update: Update,
  { read, now = read }: { readonly read: StoredObject; readonly now?: StoredObject },
): StoredObject {
  const values = valuesToStore(doc);
  const names = [...new Set(writtenPaths(update).map(topOf))];
  const fields = Object.fromEntries(names.map((name) => [name, copyJson(now[name])]));
  for (const [operator, paths] of Object.entries(update)) {
    for (const [path, given] of Object.entries(paths)) {
      if (operator === "$set") putAt(fields, { path, value: given });
      else if (operator === "$unset") putAt(fields, { path, value: undefined });
      else if (storedText(valueAt(now, path)) === storedText(valueAt(read, path))) {
        putAt(fields, { path, value: valueAt(values, path) });
      } else throw conflict();
    }
  }
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

export function setFields(holder: StoredObject, fields: StoredObject): StoredObject {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) delete holder[name];
    else holder[name] = value;
  }
  return holder;
}

/** Matches a stored object: `$type` alone also matches a list with an object in it. */
export function isObjectAt(path: string): Filter {
  return { [path]: { $type: "object", $not: { $type: "array" } } };
}

/** An entity as an update found it. */
interface Reading {
  readonly shape: Shape;
  readonly stored: Filter;
}

export function writtenPaths(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}

/** The other operators add to an array, or take elements out by value. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * Gives the paths of which an update writes more than was asked for: arrays that it replaces or names positions of, and
 * objects that it puts where none was. It depends on what was read there. One that overwrites depends on those arrays only
 * whose elements keep what no body may set.
 */
export function replacedPaths(
  update: Update,
  { shape, stored, overwrites = false }: Reading & { readonly overwrites?: boolean | undefined },
): string[] {
  const found = new Set<string>();
  for (const [operator, paths] of Object.entries(update)) {
    for (const [path, value] of Object.entries(paths)) {
      const [array, field] = fieldsOn(path, shape).find(([, { kind }]) => kind === "array") ?? [];
      if (array === undefined) {
        const isNew = !isJsonObject(valueAt(stored, path));
        if (!overwrites && isNew && (isJsonObject(value) || value instanceof Map)) found.add(path);
      } else if (array !== path || REPLACING.has(operator)) {
        if (!overwrites || field?.element?.shape?.guarded) found.add(array);
      }
    }
  }
  return [...found];
}

/** Gives the embedded objects into which an update writes: of one that is gone meanwhile, a part would come back. */
export function enteredObjects(update: Update, { shape, stored }: Reading): string[] {
  const { $unset: _gone, ...writing } = update;
  const entered = writtenPaths(writing).flatMap((path) =>
    fieldsOn(path, shape).filter(([at, { kind, type }]) =>
      at !== path && kind === "object" && type !== undefined && isJsonObject(valueAt(stored, at))
    ).map(([at]) => at)
  );
  return [...new Set(entered)];
}

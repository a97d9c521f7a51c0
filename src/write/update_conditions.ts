import mongoose from "mongoose";
import type { Connection, Document, Schema } from "mongoose";
import { StoreFailure } from "../errors/failure.ts";
import { fieldsRead, type Filter, hasOneOf, isEmpty, topOf } from "../filter/filters.ts";
import { fieldsOn } from "../filter/q/resolve_path.ts";
import { describeShape, type Shape } from "../schema/fields/shape.ts";
import { asVersion, versionKeyOf } from "../schema/fields/system_fields.ts";
import { isTiedToVersion } from "../schema/mongoose/statements/save_by.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import type { SaveDocumentOptions } from "./save_document.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { aggregateValues, inCommands } from "../schema/mongoose/statements/commands.ts";
import type { UpdateStatement } from "../schema/mongoose/statements/commands.ts";
import { appliedFields } from "../store/writes/applied_fields.ts";
import { setFields, type StoredObject, valueAt } from "../store/values.ts";
import { factsOf, type Snapshot } from "./document_facts.ts";
import { readSnapshot } from "./stored_values.ts";
import { writtenBy } from "./set_paths.ts";

interface BoundOptions extends SaveDocumentOptions {
  readonly kept: Snapshot;
}

export interface BoundUpdate {
  readonly statement: UpdateStatement;
  /** The document after the update, to check that it stays in its scope. Missing if no check is needed. */
  readonly changed?: StoredObject;
  /**
   * The path of the version. `undefined` if the schema has no version, so that no version is compared or incremented.
   */
  readonly key: string | undefined;
  readonly version: number;
  /** The stored values after the update, if no other request has changed the entity since it was read. */
  readonly expected: () => StoredObject;
}

/**
 * The conditions are the scope, the filter, and that the values on which the update depends are stored as they were
 * read. If another request has changed such a value, the update matches no document.
 */
export function boundUpdate(
  doc: Document,
  { scope, filter, collation, overwrites, kept }: BoundOptions,
): BoundUpdate {
  const { values, isSent } = kept;
  const { $where: own = {} } = doc as { $where?: Filter };
  const key = versionKeyOf(doc);
  const isTied = isTiedToVersion(doc);
  const { where, changes } = writtenBy(doc);
  const version = key === undefined ? null : asVersion(values[key] ?? doc.get(key));
  const read = fieldsRead(scope);
  const isTouched = read === undefined ||
    writtenPaths(changes).some((path) => read.has(topOf(path)));
  const reading = { shape: describeShape(doc.schema as Schema), stored: values };
  const paths = [
    replacedPaths(changes, { ...reading, overwrites }),
    isTouched ? read && [...read].filter((path) => !Object.hasOwn(changes.$set ?? {}, path)) : [],
    // A collation would also compare the values of the scope, so the filter with its collation is not sent. The
    // document matched it when it was read, and the fields that it reads must not have changed.
    collation === undefined ? [] : fieldsRead(filter),
    factsOf(doc).seen ?? [],
  ];
  const all = [
    own,
    scope,
    collation === undefined ? filter : {},
    ...enteredObjects(changes, reading).map(isObjectAt),
    unchanged(paths, { kept, sameVersion: key === undefined ? {} : hasOneOf(key, [version]) }),
    key !== undefined && values[key] === null ? hasOneOf(key, [null]) : {},
  ].filter((each) => !isEmpty(each));
  // Mongoose makes the version a condition of updates of arrays and of numeric keys. Such an update would fail after a
  // change of any other field, because every change increments the version.
  if (key !== undefined && !(isTied && version !== null)) delete where[key];
  // A scope or a filter may have a condition on `_id`, which would overwrite the `_id` of the document outside of
  // `$and`.
  const q = { ...where, ...shardKeyIn(doc, values), ...all.length > 0 && { $and: all } };
  const statement = { q, u: counted(changes, { key, values }) };
  const expected = () => setFields({ ...values }, appliedFields(values, changes));
  const bound = { statement, key, version: (version ?? 0) + 1, expected };
  // A document that a hook has returned and that was not read here may be outside of the scope, even if the update
  // writes no field that the scope reads.
  if (isEmpty(scope) || !isTouched && isSent) return bound;
  return { ...bound, changed: expected() };
}

/** Versions of MongoDB before 8.0 refuse an update that returns its document without the shard key. */
function shardKeyIn({ schema }: Document, values: StoredObject): Filter {
  const { shardKey } = (schema as Schema).options as { readonly shardKey?: object };
  const paths = Object.keys(shardKey ?? {});
  return Object.fromEntries(paths.map((path) => [path, valueAt(values, path) ?? null]));
}

/** For a removal that a hook has allowed. The fields that the hook has read must still have the same stored values. */
export function unchangedSeen(doc: Document): Filter {
  const { seen: names = [] } = factsOf(doc);
  if (names.length === 0) return {};
  const kept = readSnapshot(doc);
  const key = versionKeyOf(doc);
  const version = key === undefined ? null : asVersion(kept.values[key] ?? doc.get(key));
  return unchanged([names], {
    kept,
    sameVersion: key === undefined ? {} : hasOneOf(key, [version]),
  });
}

/**
 * Increments the version by exactly 1, even if hooks have changed the version. Without a version and changes, the
 * update is empty.
 */
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
  // `$inc` begins with 1 at a missing version and fails at `null`. A version of `null` is set to 1, and a condition on
  // `null` lets only the first of several updates succeed.
  const operator = values[key] === null ? "$set" : "$inc";
  return { ...update, [operator]: { ...update[operator], [key]: 1 } };
}

/**
 * `undefined` in `all` stands for the whole document. If the values are too large for a condition, or if JavaScript may
 * have changed them, the condition compares the version.
 */
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
  // A statement has at most 16 MB, including the written values.
  if (hasVersion && mongoose.mongo.BSON.calculateObjectSize(same) > 1024 * 1024) return sameVersion;
  const isCertain = isSent && paths.every((path) => isSentBack(valueAt(values, path)));
  return isCertain || !hasVersion ? same : { $or: [same, sameVersion] };
}

/** An empty array also matches a missing value, because documents show an empty array for a missing one. */
export function unchangedAt(path: string, stored: Filter): Filter {
  const value = valueAt(stored, path);
  const isMissing = { [path]: { $exists: false } };
  if (value === undefined) return isMissing;
  if (Array.isArray(value) && value.length === 0) {
    return { $or: [{ [path]: { $size: 0 } }, isMissing] };
  }
  // A condition on `null` alone would match missing fields and elements of arrays too.
  if (value === null) return { [path]: { $type: "null", $not: { $type: "array" } } };
  return { [path]: { $eq: value } };
}

/**
 * `false` if the value may differ from the stored value. JavaScript sorts numeric keys, whose order MongoDB compares,
 * and cannot represent some stored dates and malformed strings.
 */
export function isSentBack(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSentBack);
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (typeof value === "string") return !value.includes("\ufffd");
  if (!isJsonObject(value)) return true;
  const keys = Object.keys(value);
  return (keys.length < 2 || !keys.some((key) => /^\d+$/.test(key))) &&
    Object.values(value).every(isSentBack);
}

export function unchangedSince(
  root: StoredObject,
  { fields, key }: {
    readonly fields: readonly string[] | undefined;
    readonly key: string | undefined;
  },
): Filter {
  const all =
    fields?.map((field) =>
      Object.hasOwn(root, field)
        ? sameAsStored(`$${field}`, root[field])
        : { $eq: [{ $type: `$${field}` }, "missing"] }
    ) ?? [sameAsStored("$$ROOT", root)];
  const same = { $expr: { $and: all } };
  if (key === undefined || isSentBack(root)) return same;
  return { $or: [same, hasOneOf(key, [asVersion(root[key])])] };
}

function sameAsStored(expression: string, value: unknown): object {
  return { $eq: [expression, { $literal: value }] };
}

/**
 * If the process cannot decide, the database matches the values without storing them, so that the check comes before
 * the write.
 */
export async function checkScope(
  all: readonly StoredObject[],
  { scope, connection }: { readonly scope: Filter; readonly connection: Connection },
): Promise<void> {
  for (const sent of inCommands(all.filter((values) => !isKnownWithin(values, scope)))) {
    const stages = [{ $match: scope }, { $count: "total" }];
    const [found] = await aggregateValues({ connection, values: sent, stages });
    if (Number(found?.total ?? 0) < sent.length) throw new StoreFailure({ kind: "outOfScope" });
  }
}

/** `false` if the database must decide. */
export function isKnownWithin(values: Filter, scope: Filter): boolean {
  return Object.entries(scope).every(([path, value]) =>
    path === "$and" && Array.isArray(value)
      ? value.every((each) => isKnownWithin(values, each))
      : !path.includes(".") && isEqual(values[path], operandOf(value))
  );
}

/** The value of `{ $eq: 5 }`. Any other condition is returned unchanged, and is a value or an object of operators. */
function operandOf(value: unknown): unknown {
  return isJsonObject(value) && Object.keys(value).join() === "$eq" ? value.$eq : value;
}

function isEqual(value: unknown, expected: unknown): boolean {
  if (expected === null) return value === undefined || value === null;
  if (expected instanceof mongoose.Types.ObjectId) {
    // `ObjectId.equals()` also accepts strings and similar objects, which the database would not match.
    return value instanceof mongoose.Types.ObjectId && expected.equals(value);
  }
  return ["string", "number", "boolean"].includes(typeof expected) && value === expected;
}

/** `$type` alone would also match an array with an object in it. */
export function isObjectAt(path: string): Filter {
  return { [path]: { $type: "object", $not: { $type: "array" } } };
}

interface Reading {
  readonly shape: Shape;
  readonly stored: Filter;
}

export function writtenPaths(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}

/**
 * The operators that replace an array or remove elements by position. They would undo changes that other requests have
 * made to the array.
 */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * The write must fail if the values at these paths have changed, because the update overwrites more than the request
 * names. With `overwrites`, only arrays count whose elements have fields that no body can set, because the update
 * writes old values of these fields back.
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

/**
 * If another request has removed an object into which the update writes, the write must fail, because it would store
 * the object again with only some of its fields.
 */
export function enteredObjects(update: Update, { shape, stored }: Reading): string[] {
  const { $unset: _gone, ...writing } = update;
  const entered = writtenPaths(writing).flatMap((path) =>
    fieldsOn(path, shape).filter(([at, { kind, type }]) =>
      at !== path && kind === "object" && type !== undefined && isJsonObject(valueAt(stored, at))
    ).map(([at]) => at)
  );
  return [...new Set(entered)];
}

/** `TypeMismatch` (14), such as for `$inc` of a string, and `PathNotViable` (28), such as for a path below a number. */
const CLASHES: ReadonlySet<unknown> = new Set([14, 28]);

/** The update did fit the value that was read, so another request has changed it. */
export function throwClash(error: unknown): never {
  throw CLASHES.has(Object(error).code) ? new StoreFailure({ kind: "changed" }, error) : error;
}

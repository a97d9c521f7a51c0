import type { Document, Schema } from "mongoose";
import { fieldsRead, type Filter, hasOneOf, isEmpty, topOf } from "../filter/filters.ts";
import { fieldsOn } from "../filter/q/resolve_path.ts";
import { describeShape, type Shape } from "../schema/fields/shape.ts";
import { asVersion, versionKeyOf } from "../schema/fields/system_fields.ts";
import { isTiedToVersion } from "../schema/mongoose/statements/save_by.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import type { SaveDocumentOptions } from "./save_document.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { UpdateStatement } from "../schema/mongoose/statements/commands.ts";
import { isObjectAt, unchanged } from "../store/writes/conditions.ts";
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

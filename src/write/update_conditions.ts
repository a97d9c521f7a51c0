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
  readonly snapshot: Snapshot;
}

export interface BoundUpdate {
  readonly statement: UpdateStatement;
  /** The new values, to check against the scope. Missing if the document surely stays in the scope. */
  readonly changed?: StoredObject;
  readonly key: string | undefined;
  readonly version: number;
  /** The stored values after the update, without changes by other requests. */
  readonly expected: () => StoredObject;
}

export function boundUpdate(
  doc: Document,
  { scope, filter, collation, overwrites, snapshot }: BoundOptions,
): BoundUpdate {
  const { values, isSent } = snapshot;
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
    // A collation would also apply to the scope. With a collation, the filter is no condition of the update, but the
    // fields that it reads must be unchanged.
    collation === undefined ? [] : fieldsRead(filter),
    factsOf(doc).readByHooks ?? [],
  ];
  const all = [
    own,
    scope,
    collation === undefined ? filter : {},
    ...enteredObjects(changes, reading).map(isObjectAt),
    unchanged(paths, { snapshot, sameVersion: key === undefined ? {} : hasOneOf(key, [version]) }),
    key !== undefined && values[key] === null ? hasOneOf(key, [null]) : {},
  ].filter((each) => !isEmpty(each));
  // Mongoose makes the version a condition of updates of arrays and numeric keys, so any other change would make them
  // fail.
  if (key !== undefined && !(isTied && version !== null)) delete where[key];
  // Outside of `$and`, a condition on `_id` would replace the one in `where`.
  const q = { ...where, ...shardKeyIn(doc, values), ...all.length > 0 && { $and: all } };
  const statement = { q, u: counted(changes, { key, values }) };
  const expected = () => setFields({ ...values }, appliedFields(values, changes));
  const bound = { statement, key, version: (version ?? 0) + 1, expected };
  // A hook may have returned a document from outside of the scope, so even an update of other fields is checked.
  if (isEmpty(scope) || !isTouched && isSent) return bound;
  return { ...bound, changed: expected() };
}

/** MongoDB before 8.0 refuses an update that returns its document without the shard key. */
function shardKeyIn({ schema }: Document, values: StoredObject): Filter {
  const { shardKey } = (schema as Schema).options as { readonly shardKey?: object };
  const paths = Object.keys(shardKey ?? {});
  return Object.fromEntries(paths.map((path) => [path, valueAt(values, path) ?? null]));
}

export function unchangedSinceHooks(doc: Document): Filter {
  const { readByHooks: names = [] } = factsOf(doc);
  if (names.length === 0) return {};
  const snapshot = readSnapshot(doc);
  const key = versionKeyOf(doc);
  const version = key === undefined ? null : asVersion(snapshot.values[key] ?? doc.get(key));
  return unchanged([names], {
    snapshot,
    sameVersion: key === undefined ? {} : hasOneOf(key, [version]),
  });
}

/** Increments the version by exactly 1, even if hooks have changed it. */
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
  // `$inc` fails at a version of `null`, which is set to 1. A condition on `null` lets only the first update succeed.
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

/** These operators replace an array or remove by position, so they would undo changes of other requests. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * The update overwrites more at these paths than the request names, so they must be unchanged. With `overwrites`, this
 * holds only for arrays with hidden or read-only fields, whose old values it writes back.
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
 * If another request has removed the object around a set field, the update would store it again with only the set
 * fields.
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

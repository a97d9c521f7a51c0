import type { Document, Schema } from "mongoose";
import { fieldsRead, isEmpty, topOf } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { hasNoVersion, hasOneOf } from "../filter/versions.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { asVersion, isOddVersion, versionKey } from "../schema/fields/system_fields.ts";
import { changesOf } from "../schema/mongoose/documents/document_values.ts";
import { isTiedToVersion } from "../schema/mongoose/statements/save_by.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { changedFields, checkScope, setFields, writtenPaths } from "./check_scope.ts";
import type { SaveDocumentOptions } from "./save_document.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { valueAt } from "./stored_values.ts";
import type { KeptValues, StoredObject } from "./stored_values.ts";

/** The paths that an update depends on; `undefined` for the whole document. */
type Paths = readonly string[] | undefined;

interface ConditionOptions
  extends Pick<SaveDocumentOptions, "scope" | "filter" | "collation" | "overwrites"> {
  readonly kept: KeptValues;
  /** Checks the document as it would be stored; by itself, where nothing checks several together. */
  readonly check?: (values: StoredObject) => Promise<void> | void;
}

/**
 * Gives the conditions of the update that saves a document, for its `$where`: the scope, the filter, and that nothing of what
 * the update depends on has changed since the document was read.
 */
export async function updateConditions(
  doc: Document,
  { filter, collation, overwrites, ...options }: ConditionOptions,
): Promise<Filter> {
  const { scope, kept } = options;
  const { $and = [], ...own } = (doc.$where ?? {}) as { $and?: readonly Filter[] };
  const key = versionKey(doc);
  const version = key === undefined ? null : asVersion(kept.values[key]);
  const isTied = isTiedToVersion(doc);
  const update = changesOf(doc);
  const shape = describeShape(doc.schema as Schema);
  const paths = [
    overwrites ? [] : replacedPaths(update, { shape, stored: kept.values }),
    await judge(doc, update, options),
    // `save()` takes no collation: that what the filter reads is unchanged stands for the filter.
    collation === undefined ? [] : readBy(filter),
  ];
  const all = [
    ...$and,
    scope,
    collation === undefined ? filter : {},
    unchanged(joined(paths), {
      sameVersion: key === undefined ? undefined : hasOneOf(key, [version]),
      kept,
    }),
    key !== undefined && isOddVersion(kept.values[key]) ? hasNoVersion(key) : {},
  ].filter((each) => !isEmpty(each));
  return {
    ...own,
    // Mongoose binds arrays and numeric keys to the version, which every change of another field counts up.
    ...key !== undefined && !(isTied && version !== null) && { [key]: { $nin: [] } },
    // The wrapper keeps a condition on `_id` from taking the place of the document's own.
    ...all.length > 0 && { $and: all },
  };
}

/** Checks the document as it would be stored; gives what that depends on besides the update. */
async function judge(
  doc: Document,
  update: Update,
  { scope, kept, check = (values) => checkScope([values], { scope, connection: doc.db }) }: Pick<
    ConditionOptions,
    "scope" | "kept" | "check"
  >,
): Promise<Paths> {
  if (isEmpty(scope)) return [];
  const read = readBy(scope);
  const written = writtenPaths(update).map(topOf);
  const touched = read?.some((path) => written.includes(path)) ?? true;
  // A hook may have read it: then it can be outside already.
  if (touched || !kept.isSent) {
    const values = { ...kept.values };
    setFields(values, changedFields(doc, update, { read: kept.values }));
    await check(values);
  }
  return touched ? read?.filter((path) => !Object.hasOwn(update.$set ?? {}, path)) : [];
}

interface ReadState {
  readonly sameVersion: Filter | undefined;
  readonly kept: KeptValues;
}

/** The condition that what was read is still stored; for a document that a hook has read, its version will do. */
function unchanged(
  paths: Paths,
  { sameVersion, kept: { values, isSent } }: ReadState,
): Filter {
  if (paths === undefined) {
    return sameVersion ?? { $expr: sameAsStored("$$ROOT", { value: values }) };
  }
  if (paths.length === 0) return {};
  const same = { $and: paths.map((path) => unchangedAt(path, values)) };
  return isSent || sameVersion === undefined ? same : { $or: [same, sameVersion] };
}

function readBy(filter: Filter): Paths {
  const read = fieldsRead(filter);
  return read && [...read];
}

function joined(all: readonly Paths[]): Paths {
  return all.includes(undefined) ? undefined : all.flatMap((paths) => paths ?? []);
}

/** The other operators add to an array, or take elements out by value. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * Gives the paths of which an update writes more than was asked for: arrays that it replaces or names positions of, and
 * objects that it puts where none was. It depends on what was read there.
 */
export function replacedPaths(
  update: Update,
  { shape, stored }: { readonly shape: Shape; readonly stored: Filter },
): string[] {
  const found = new Set<string>();
  for (const [operator, paths] of Object.entries(update)) {
    for (const [path, value] of Object.entries(paths)) {
      const array = arrayOn(path.split("."), shape);
      if (array === undefined) {
        const isNew = !isJsonObject(valueAt(stored, path));
        if (isNew && (isJsonObject(value) || value instanceof Map)) found.add(path);
      } else if (array !== path || REPLACING.has(operator)) found.add(array);
    }
  }
  return [...found];
}

function arrayOn([first = "", ...rest]: readonly string[], shape: Shape): string | undefined {
  let field: FieldShape | undefined = shape.fields.get(first);
  let path = first;
  for (const name of rest) {
    if (field?.kind !== "object" && field?.kind !== "map") break;
    field = field.kind === "map" ? field.element : field.shape?.fields.get(name);
    path = `${path}.${name}`;
  }
  return field?.kind === "array" ? path : undefined;
}

const AT = "$$at";

/** How deep objects are compared member by member: the database refuses conditions that are nested much deeper. */
const MOST_DEPTH = 20;

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
  if (isExact(value)) return { [path]: { $eq: value } };
  return { $expr: sameAsStored(`$${path}`, { value }) };
}

/** Whether a value is the same when it goes back: objects here sort their numeric keys. */
function isExact(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isExact);
  if (!isJsonObject(value)) return true;
  const keys = Object.keys(value);
  return (keys.length < 2 || !keys.some((key) => /^\d+$/.test(key))) &&
    Object.values(value).every(isExact);
}

/** Tells whether something is stored as it was read. The order of numeric keys is lost here: such members are compared. */
export function sameAsStored(
  expression: unknown,
  { value, depth = 0 }: { readonly value: unknown; readonly depth?: number },
): unknown {
  const comparesWhole = isExact(value) || depth >= MOST_DEPTH;
  const member = (inner: unknown, each: unknown) =>
    sameAsStored(inner, { value: each, depth: depth + 1 });
  if (!comparesWhole && Array.isArray(value)) {
    const members = value.map((each, index) => member({ $arrayElemAt: [AT, index] }, each));
    return holds(expression, { type: "array", size: { $size: AT }, members });
  }
  if (!comparesWhole && isJsonObject(value)) {
    const members = Object.entries(value).map(([key, each]) =>
      member({ $getField: { field: { $literal: key }, input: AT } }, each)
    );
    return holds(expression, { type: "object", size: { $size: { $objectToArray: AT } }, members });
  }
  return { $eq: [expression, { $literal: value }] };
}

interface Holds {
  readonly type: "array" | "object";
  readonly size: unknown;
  readonly members: readonly unknown[];
}

function holds(expression: unknown, { type, size, members }: Holds): unknown {
  const isOfType = { $eq: [{ $type: AT }, type] };
  const same = { $and: [{ $eq: [size, members.length] }, ...members] };
  // The size of another type would be an error.
  return { $let: { vars: { at: expression }, in: { $cond: [isOfType, same, false] } } };
}

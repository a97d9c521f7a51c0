import type { Document, Schema } from "mongoose";
import { fieldsRead, isEmpty, topOf } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasNoVersion, hasOneOf } from "../../filter/versions.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import { changesOf } from "../../schema/mongoose/documents/document_values.ts";
import { hasOddVersion } from "../../schema/mongoose/documents/fit_stored.ts";
import type { KeptValues } from "../../schema/mongoose/statements/find_kept.ts";
import { isTiedToVersion } from "../../schema/mongoose/statements/save_by.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { applyUpdate, checkValues, writtenPaths } from "../check_scope.ts";
import { versionKey } from "./count_version.ts";
import { replacedPaths } from "./replaced_paths.ts";
import { sameAsStored, unchangedAt } from "./same_as_stored.ts";
import type { SaveDocumentOptions } from "./save_document.ts";

/** The paths that an update depends on; `undefined` for the whole document. */
type Paths = readonly string[] | undefined;

export interface ConditionOptions
  extends Pick<SaveDocumentOptions, "scope" | "filter" | "collation"> {
  readonly kept: KeptValues;
}

/**
 * Gives the conditions of the update that saves a document, for its `$where`: the scope, the filter, and that nothing of
 * what the update depends on has changed since the document was read. Scope and filter are cast already.
 *
 * @throws {RestError} 403 if the document would be outside the scope.
 */
export async function updateConditions(
  doc: Document,
  { scope, filter, collation, kept }: ConditionOptions,
): Promise<Filter> {
  const { $and = [], ...own } = (doc.$where ?? {}) as { $and?: readonly Filter[] };
  const key = versionKey(doc);
  const version = key === undefined || hasOddVersion(doc) ? null : asVersion(kept.values[key]);
  const isTied = isTiedToVersion(doc);
  const update = changesOf(doc);
  const shape = describeShape(doc.schema as Schema);
  const paths = [
    replacedPaths(update, { shape, stored: kept.values }),
    await judge(doc, update, { scope, kept }),
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
    key !== undefined && hasOddVersion(doc) ? hasNoVersion(key) : {},
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
  { db }: Document,
  update: Update,
  { scope, kept }: { readonly scope: Filter; readonly kept: KeptValues },
): Promise<Paths> {
  if (isEmpty(scope)) return [];
  const read = readBy(scope);
  const written = writtenPaths(update).map(topOf);
  const touched = read?.some((path) => written.includes(path)) ?? true;
  // A hook may have read it: then it can be outside already.
  if (touched || !kept.isSent) {
    const values = applyUpdate(kept.values, { update, elements: {} });
    await checkValues(values, scope, { connection: db });
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

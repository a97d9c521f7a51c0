import type { Document } from "mongoose";
import { type Delta, deltaOf } from "../schema/mongoose/documents/document_values.ts";
import { type StoredObject, valueAt } from "../store/values.ts";
import { valuesToStore } from "./stored_values.ts";

const set = new WeakMap<Document, Set<string>>();

/**
 * The next save writes the paths even if their values are equal to the values that were read, because another request
 * may have changed the stored values in the meantime.
 */
export function noteSet(doc: Document, paths: Iterable<string>): void {
  set.set(doc, new Set([...set.get(doc) ?? [], ...paths]));
}

export function forgetSet(doc: Document): void {
  set.delete(doc);
}

export function writtenBy(doc: Document): Delta {
  const paths = set.get(doc);
  for (const path of paths ?? []) doc.markModified(path);
  const { where, changes } = deltaOf(doc);
  return { where, changes: paths === undefined ? changes : withWhole(changes, { doc, paths }) };
}

/**
 * `$set` writes each path that the request sets. An operator by which a hook has changed the value further, such as
 * `$push`, would add to a value that another request has stored.
 */
function withWhole(
  changes: Delta["changes"],
  { doc, paths }: { readonly doc: Document; readonly paths: ReadonlySet<string> },
): Delta["changes"] {
  const { $set = {}, $unset = {}, ...others } = changes;
  const moved = Object.values(others).flatMap(Object.keys).filter((path) => paths.has(path));
  if (moved.length === 0) return changes;
  const values = valuesToStore(doc);
  const result: Record<string, StoredObject> = {
    $set: { ...$set, ...Object.fromEntries(moved.map((path) => [path, valueAt(values, path)])) },
    ...Object.keys($unset).length > 0 && { $unset },
  };
  for (const [operator, given] of Object.entries(others)) {
    const rest = Object.entries(given).filter(([path]) => !paths.has(path));
    if (rest.length > 0) result[operator] = Object.fromEntries(rest);
  }
  return result;
}

import type { Document } from "mongoose";
import { type Delta, deltaOf } from "../schema/mongoose/documents/document_values.ts";
import { factsOf } from "./document_facts.ts";
import { type StoredObject, valueAt } from "../store/values.ts";
import { valuesToStore } from "./stored_values.ts";

export function noteSet(doc: Document, paths: Iterable<string>): void {
  const facts = factsOf(doc);
  facts.set = new Set([...facts.set ?? [], ...paths]);
}

export function writtenBy(doc: Document): Delta {
  const { set: paths } = factsOf(doc);
  for (const path of paths ?? []) doc.markModified(path);
  const { where, changes } = deltaOf(doc);
  return { where, changes: paths === undefined ? changes : withWhole(changes, { doc, paths }) };
}

/** A hook's `$push` would add to the value of another request, so the paths of the request are written by `$set`. */
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

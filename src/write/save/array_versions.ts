import type { Document, Model } from "mongoose";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { valueAt } from "./pin.ts";
import { storedText } from "../stored_text.ts";
import { storedValues } from "../stored_values.ts";

/** The arrays of documents that a hook has read, as they were before a body replaced them. */
const replaced = new WeakMap<Document, Map<string, string>>();

/** Remembers an array that is about to be replaced, if nothing else tells later whether it was changed meanwhile. */
export function rememberArray(doc: Document, path: string): void {
  if (keptValues(doc) !== undefined) return;
  let arrays = replaced.get(doc);
  if (arrays === undefined) replaced.set(doc, arrays = new Map());
  if (!arrays.has(path)) arrays.set(path, textOf(doc, path));
}

/** Whether an array is known to be stored as it was when a hook read the document. */
export function isRemembered(doc: Document, path: string, stored: Filter): boolean {
  const text = replaced.get(doc)?.get(path);
  return text !== undefined &&
    textOf((doc.constructor as Model<unknown>).hydrate(stored), path) === text;
}

function textOf(doc: Document, path: string): string {
  return storedText(valueAt(storedValues(doc), path));
}

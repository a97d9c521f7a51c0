import type { Document, Model } from "mongoose";
import { toJson } from "../answers/to_json.ts";
import { rawValues } from "../mapper/internals.ts";

/** The arrays of a document that a body has replaced, as they were read. */
const replaced = new WeakMap<Document, Map<string, string>>();

/** Remembers an array that is about to be replaced, so that a later save can tell whether it was changed meanwhile. */
export function rememberArray(doc: Document, path: string): void {
  let arrays = replaced.get(doc);
  if (arrays === undefined) replaced.set(doc, arrays = new Map());
  if (!arrays.has(path)) arrays.set(path, textOf(doc, path));
}

/**
 * Takes over the stored version of a document whose save met another one, if what was changed meanwhile are other
 * fields: the mapper holds every array against the version of the whole document.
 *
 * @returns Whether the save may be tried again.
 */
export async function adoptVersion(doc: Document): Promise<boolean> {
  const key = doc.schema.get("versionKey");
  const arrays = replaced.get(doc);
  if (typeof key !== "string" || arrays === undefined) return false;
  const positions = doc.directModifiedPaths().filter((path) => isVersioned(doc, path));
  if (!positions.every((path) => arrays.has(path))) return false;
  const model = doc.constructor as Model<unknown>;
  const stored = await model.findById(doc._id).session(doc.$session()).exec() as Document | null;
  if (stored === null || positions.some((path) => textOf(stored, path) !== arrays.get(path))) {
    return false;
  }
  rawValues(doc)[key] = rawValues(stored)[key];
  return true;
}

/** Whether the mapper ties a change of a path to the version: arrays, and positions in them. */
function isVersioned(doc: Document, path: string): boolean {
  return /\.\d+(\.|$)/.test(path) || doc.schema.path(path)?.instance === "Array";
}

function textOf(doc: Document, path: string): string {
  return toJson(doc.get(path) ?? null);
}

import mongoose from "mongoose";
import type { Document } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

/** A value of a document: the document that tracks its changes, and its path in it. */
export interface Slot {
  readonly doc: Document;
  readonly path: string;
  readonly map?: Map<string, unknown>;
  readonly key?: string;
}

/** Reads a value as it is stored, past getters. */
export function readSlot({ doc, path, map, key }: Slot): unknown {
  if (map !== undefined) return Map.prototype.get.call(map, key);
  return doc.get(path, undefined, { getters: false });
}

/** Sets a value, cast, and has the document write it; `undefined` removes it. */
export function writeSlot({ doc, path, map, key }: Slot, value: unknown): void {
  if (map === undefined) doc.set(path, value);
  else if (value === undefined) removeKey(map, { doc, path, key: key as string });
  else map.set(key as string, value);
}

/** Replaces free-form data of which some paths, named from its document, have changed. */
export function writeFree(
  slot: Slot,
  value: unknown,
  { changed }: { changed: readonly string[] },
): void {
  const { doc, path, map, key } = slot;
  for (const each of changed) doc.markModified(each);
  if (map !== undefined) Map.prototype.set.call(map, key, value);
  else setRaw(doc, { path, value });
}

/** Replaces an array of embedded objects. Elements that were in it stay the same documents, wherever they stand. */
export function writeElements({ doc, path }: Slot, elements: readonly unknown[]): void {
  doc.markModified(path);
  for (const each of elements) {
    // Mongoose would replace an element that has moved by a copy, and run its setters again.
    if (each instanceof mongoose.Document) Object.assign(each, { __index: undefined });
  }
  doc.set(path, elements);
}

/** Forgets the changes of paths that start with a prefix: what is around them is written as a whole. */
export function forgetChanges(doc: Document, prefix: string): void {
  for (const path of doc.directModifiedPaths()) {
    if (path.startsWith(prefix)) doc.unmarkModified(path);
  }
}

function setRaw(doc: Document, { path, value }: { path: string; value: unknown }): void {
  (doc as unknown as { $__setValue(path: string, value: unknown): void }).$__setValue(path, value);
}

function removeKey(map: Map<string, unknown>, { doc, path, key }: KeyChange): void {
  if (Map.prototype.delete.call(map, key)) doc.markModified(path);
}

interface KeyChange {
  readonly doc: Document;
  readonly path: string;
  readonly key: string;
}

export const RAW_SETS: Knowledge = {
  name: "values set without casts",
  holds({ model }) {
    const doc = new model({}) as Document;
    setRaw(doc, { path: "text", value: " A " });
    return doc.get("text") === " A ";
  },
};

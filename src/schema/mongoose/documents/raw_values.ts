import type { Document } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

/** The member of a document that holds its stored values: no path leads through an object with such a key. */
export const VALUES_KEY = "_doc";

/** The stored values of a document, past getters and change tracking. */
export function rawValues(doc: Document): Record<string, unknown> {
  return (doc as unknown as Record<typeof VALUES_KEY, Record<string, unknown>>)[VALUES_KEY];
}

/** The elements of an array of a document, past its proxy; other arrays as they are. */
export function rawArray(array: readonly unknown[]): readonly unknown[] {
  return (array as { readonly __array?: readonly unknown[] }).__array ?? array;
}

export const RAW_VALUES: Knowledge = {
  name: "stored values of documents",
  holds: ({ doc }) => rawValues(doc).text === "a" && rawValues(doc).inner === doc.get("inner"),
};

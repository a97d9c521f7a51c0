import type { Document } from "mongoose";

/** Gives the values of a document as they are stored. */
export function storedValues(doc: Document): Record<string, unknown> {
  const values = doc.toObject({
    depopulate: true,
    transform: false,
    virtuals: false,
    getters: false,
    flattenMaps: false,
    minimize: doc.schema.get("minimize") !== false,
  });
  return values as Record<string, unknown>;
}

import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Document } from "mongoose";

/** The members of a document that its methods use. */
export interface DocumentImage {
  readonly values: Uint8Array;
  /** How many properties it has of its own: hooks may put more on it. */
  readonly properties: number;
}

export function imageOf(doc: Document): DocumentImage {
  const stored = doc.toBSON() as Record<string, unknown>;
  return {
    values: mongoose.mongo.BSON.serialize(stored, { ignoreUndefined: true }),
    properties: Reflect.ownKeys(doc).length,
  };
}

/** Whether a document is still what its image shows: the same document, read again, would do as well. */
export function isUntouched(doc: Document, before: DocumentImage): boolean {
  if (doc.isModified() || doc.$getPopulatedDocs().length > 0) return false;
  if (Reflect.ownKeys(doc.$locals).length > 0) return false;
  const { values, properties } = imageOf(doc);
  return properties === before.properties && Buffer.from(values).equals(before.values);
}

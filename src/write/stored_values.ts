import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Document, Model } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import { ownDefaults } from "../schema/mongoose/documents/document_values.ts";

const { BSON } = mongoose.mongo;

export type StoredObject = Record<string, unknown>;

export function storedValues(doc: Document): StoredObject {
  const values = doc.toObject({
    depopulate: true,
    transform: false,
    virtuals: false,
    getters: false,
    flattenMaps: false,
    minimize: doc.schema.get("minimize") !== false,
  });
  return values as StoredObject;
}

/** The values that a document shows, as they may be stored: without defaults of its own. */
export function shownValues(doc: Document): StoredObject {
  const values = BSON.deserialize(BSON.serialize(storedValues(doc)));
  for (const path of ownDefaults(doc)) delete values[path];
  return values;
}

export function copyDocument(doc: Document): Document {
  try {
    return doc.$clone();
  } catch {
    // Mongoose cannot copy a document with a stored value that does not fit its field.
    const model = doc.constructor as Model<unknown>;
    return model.hydrate(BSON.deserialize(BSON.serialize(storedValues(doc)))) as Document;
  }
}

/** The value at a path of a stored object; nothing is found inside lists. */
export function valueAt(stored: unknown, path: string): unknown {
  return path.split(".").reduce(
    (value, key) => isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined,
    stored,
  );
}

/** Gives a text that is the same for stored values that are equal, and differs for all others. */
export function storedText(value: unknown): string {
  // Reading it back drops differences that no comparison sees, such as the width of a number.
  const read = BSON.deserialize(BSON.serialize({ value }), { validation: { utf8: false } });
  return Buffer.from(BSON.serialize(read)).toString("base64");
}

import mongoose from "mongoose";
import type { Document, Model } from "mongoose";
import { storedValues } from "./stored_values.ts";

const { BSON } = mongoose.mongo;

/** Copies a document. */
export function copyDocument(doc: Document): Document {
  try {
    return doc.$clone();
  } catch {
    // Mongoose copies no document of which a stored value does not fit its field.
    const model = doc.constructor as Model<unknown>;
    return model.hydrate(BSON.deserialize(BSON.serialize(storedValues(doc)))) as Document;
  }
}

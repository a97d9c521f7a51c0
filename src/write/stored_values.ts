import mongoose from "mongoose";
import type { Document, Model } from "mongoose";
import { copyJson } from "../schema/fields/json.ts";
import { ownDefaults } from "../schema/mongoose/documents/document_values.ts";
import { savesOf } from "../schema/mongoose/statements/save_by.ts";
import type { StoredObject } from "../store/values.ts";
import { factsOf, type Snapshot } from "./document_facts.ts";
import { noteUnread } from "./note_unread.ts";

const { BSON } = mongoose.mongo;

export function valuesToStore(doc: Document): StoredObject {
  // The framework's own `toObject()` would mark the values as a hook's copy, in whose JSON fields are hidden.
  const values = mongoose.Document.prototype.toObject.call(doc, {
    depopulate: true,
    transform: false,
    virtuals: false,
    getters: false,
    flattenMaps: false,
    flattenObjectIds: false,
    flattenDecimals: false,
    flattenUUIDs: false,
    useProjection: false,
    versionKey: true,
    ...doc.schema.get("minimize") === false && { minimize: false },
  });
  return values as StoredObject;
}

export function hydrateWithSnapshot(model: Model<unknown>, found: object): Document {
  // `hydrate()` keeps the given values and adds members to some, so they are copied before.
  const values = copyJson(found) as StoredObject;
  const doc = model.hydrate(found) as Document;
  factsOf(doc).snapshot = { values, isSent: true, saves: 0 };
  noteUnread(doc, values);
  return doc;
}

/** Without a known snapshot, one is taken, so hooks must not have changed the document yet. */
export function readSnapshot(doc: Document): Snapshot {
  return existingSnapshot(doc) ?? takeSnapshot(doc);
}

export function existingSnapshot(doc: Document): Snapshot | undefined {
  const { snapshot } = factsOf(doc);
  return snapshot?.saves === savesOf(doc) ? snapshot : undefined;
}

/** Mongoose's defaults are left out, because they are not stored. */
export function takeSnapshot(doc: Document): Snapshot {
  const values = BSON.deserialize(BSON.serialize(valuesToStore(doc)));
  for (const path of ownDefaults(doc)) delete values[path];
  const shown = { values, isSent: false, saves: savesOf(doc) };
  factsOf(doc).snapshot = shown;
  return shown;
}

export function copyDocument(doc: Document): Document {
  try {
    return doc.$clone();
  } catch {
    // `$clone()` fails if a stored value does not fit its field.
    const model = doc.constructor as Model<unknown>;
    return model.hydrate(BSON.deserialize(BSON.serialize(valuesToStore(doc)))) as Document;
  }
}

// What the database has sent for a document: Mongoose casts it, adds defaults, and keeps no copy.
import type { Document, Model, Query } from "mongoose";
import { copyJson } from "../../fields/json.ts";
import { isDocument } from "../bson.ts";

type Stored = Record<string, unknown>;

/** Queries hold the driver's collection, without declaring it. */
interface Inside {
  mongooseCollection?: { findOne?(...args: unknown[]): Promise<Stored | null> };
}

const kept = new WeakMap<Document, Stored>();

/** Runs a query for one document, and keeps what the database has sent for it. */
export async function findKept(query: Query<unknown, unknown>): Promise<unknown> {
  const inside = query as unknown as Inside;
  const { mongooseCollection: collection } = inside;
  let sent: Stored | null = null;
  if (typeof collection?.findOne === "function") {
    const findOne = async (...args: unknown[]) => {
      const found = await collection.findOne?.(...args) ?? null;
      // Free-form data is shared with the document, whose changes must not be seen here.
      sent = copyJson(found) as Stored | null;
      return found;
    };
    inside.mongooseCollection = Object.create(collection, { findOne: { value: findOne } });
  }
  const found = await query.exec();
  const { _id } = (sent ?? {}) as Stored;
  if (isDocument(found) && _id !== undefined && String(found._id) === String(_id)) {
    kept.set(found, sent as unknown as Stored);
  }
  return found;
}

/** Makes a document of what the database has sent, and keeps that. */
export function hydrateKept(model: Model<unknown>, found: object): Document {
  // Mongoose shares what it is given with the document, and adds to some of it.
  const sent = copyJson(found) as Stored;
  const doc = model.hydrate(found) as Document;
  kept.set(doc, sent);
  return doc;
}

/** Gives what was stored for a document when it was read, if that was kept. */
export function keptValues(doc: Document): Stored | undefined {
  return kept.get(doc);
}

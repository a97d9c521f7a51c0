// What the database has sent for a document: Mongoose casts it, adds defaults, and keeps no copy.
import type { Document, Model, Query } from "mongoose";
import { copyJson } from "../../fields/json.ts";
import { isDocument } from "../bson.ts";

type Values = Record<string, unknown>;

/** What was stored for a document when it was read. */
export interface KeptValues {
  readonly values: Values;
  /** Whether they are those that the database has sent, and not only those that the document shows. */
  readonly isSent: boolean;
}

/** Queries hold the driver's collection, without declaring it. */
interface Inside {
  mongooseCollection?: { findOne?(...args: unknown[]): Promise<Values | null> };
}

const kept = new WeakMap<Document, KeptValues>();

/** Runs a query for one document, and keeps what the database has sent for it. */
export async function findKept(query: Query<unknown, unknown>): Promise<unknown> {
  const inside = query as unknown as Inside;
  const { mongooseCollection: collection } = inside;
  let values: Values | null = null;
  if (typeof collection?.findOne === "function") {
    const findOne = async (...args: unknown[]) => {
      const found = await collection.findOne?.(...args) ?? null;
      // Free-form data is shared with the document, whose changes must not be seen here.
      values = copyJson(found) as Values | null;
      return found;
    };
    inside.mongooseCollection = Object.create(collection, { findOne: { value: findOne } });
  }
  const found = await query.exec();
  const { _id } = (values ?? {}) as Values;
  if (isDocument(found) && _id !== undefined && String(found._id) === String(_id)) {
    kept.set(found, { values: values as unknown as Values, isSent: true });
  }
  return found;
}

/** Makes a document of what the database has sent, and keeps that. */
export function hydrateKept(model: Model<unknown>, found: object): Document {
  // Mongoose shares what it is given with the document, and adds to some of it.
  const values = copyJson(found) as Values;
  const doc = model.hydrate(found) as Document;
  kept.set(doc, { values, isSent: true });
  return doc;
}

/** Keeps what a document shows after it was saved. */
export function keepSaved(doc: Document, show: (doc: Document) => Values): void {
  kept.set(doc, { values: show(doc), isSent: false });
}

/** Keeps what a document shows, unless it is known what was stored for it; gives what is kept. */
export function keepShown(doc: Document, show: (doc: Document) => Values): KeptValues {
  const known = kept.get(doc) ?? { values: show(doc), isSent: false };
  kept.set(doc, known);
  return known;
}

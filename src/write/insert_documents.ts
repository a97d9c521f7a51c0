import mongoose from "mongoose";
import type { Document, Model, mongo } from "mongoose";
import { BulkError } from "../errors/bulk_error.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { isEmpty } from "../filter/filters.ts";
import { versionKey } from "../schema/fields/system_fields.ts";
import { setRaw } from "../schema/mongoose/documents/document_values.ts";
import { markSaved, saveBy, statementOf } from "../schema/mongoose/statements/save_by.ts";
import { checkScope } from "./check_scope.ts";
import type { SaveDocumentOptions } from "./save_document.ts";
import { storedValues } from "./stored_values.ts";
import type { StoredObject } from "./stored_values.ts";

/** Inserts several documents by one statement. Throws a BulkError of those that are refused. */
export async function insertDocuments(
  docs: readonly Document[],
  { scope, statementOptions, together = (write) => write() }: SaveDocumentOptions,
  send: typeof insertAll = insertAll,
): Promise<void> {
  const [first] = docs;
  if (first === undefined) return;
  const model = first.constructor as Model<unknown>;
  if (docs.some((doc) => !doc.isNew || doc.constructor !== model)) {
    throw new TypeError(
      `Cannot create several entities: a hook gave other documents than new ones`,
    );
  }
  await saveBy(docs, async () => {
    const all = docs.map(firstValues);
    if (!isEmpty(scope)) {
      await checkScope(all, { scope: castFilter(model, scope), connection: model.db });
    }
    await together((session) =>
      send(model, { all, options: statementOf(first, statementOptions(session)) })
    );
    docs.forEach(markSaved);
  });
}

/** Inserts one document, whose error is not that of one of many. */
export async function insertDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  await insertDocuments([doc], options, async ({ collection }, { all: [values], options }) => {
    await collection.insertOne(values as StoredObject, options);
  });
}

function firstValues(doc: Document): StoredObject {
  const key = versionKey(doc);
  if (key !== undefined) setRaw(doc, { path: key, value: 0 });
  return storedValues(doc);
}

interface Insertion {
  readonly all: readonly StoredObject[];
  readonly options: mongo.BulkWriteOptions;
}

export async function insertAll(
  model: Model<unknown>,
  { all, options }: Insertion,
): Promise<void> {
  try {
    await model.collection.insertMany([...all], options);
  } catch (error) {
    throw error instanceof mongoose.mongo.MongoBulkWriteError ? await causeOf(model, error) : error;
  }
}

/** Gives the error behind that of a bulk as other statements have it. */
async function causeOf(
  { collection }: Model<unknown>,
  error: mongo.MongoBulkWriteError,
): Promise<unknown> {
  const refused = [error.writeErrors].flat();
  const { errorResponse } = error;
  if (refused.length === 0) return errorResponse instanceof Error ? errorResponse : error;
  const indexes = await collection.indexes();
  return new BulkError(
    new Map(refused.map(({ index, code, errmsg = "" }) => {
      // The driver leaves out which fields an index has.
      const [, name] = /^E11000 .*? index: (.+?) dup key/.exec(errmsg) ?? [];
      const keyPattern = indexes.find((each) => each.name === name)?.key;
      const response = { message: errmsg, code, ...keyPattern && { keyPattern } };
      return [index, new mongoose.mongo.MongoServerError(response)];
    })),
  );
}

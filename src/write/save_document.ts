import mongoose from "mongoose";
import type { ClientSession, Document, Model, mongo, Query } from "mongoose";
import { BulkError, throwOnly } from "../errors/bulk_error.ts";
import { mapPaced } from "../errors/event_loop.ts";
import { conflict, isOutOfReach, throwClash } from "../errors/refusals.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { everyFilter, type Filter, isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import { setRaw } from "../schema/mongoose/documents/document_values.ts";
import {
  markSaved,
  saveBy,
  saveEachBy,
  statementOptionsOf,
} from "../schema/mongoose/statements/save_by.ts";
import type { WriteOptions } from "../schema/mongoose/statements/save_by.ts";
import { sendUpdates, type UpdateStatement } from "../schema/mongoose/statements/commands.ts";
import { sendWith, type Write } from "../schema/mongoose/statements/send_with.ts";
import { readSnapshot, type Snapshot, type StoredObject, valuesToStore } from "./stored_values.ts";
import { type BoundUpdate, boundUpdate, checkScope } from "./update_conditions.ts";
import { versionKeyOf } from "../schema/fields/system_fields.ts";
import { matchAsIs } from "../schema/mongoose/statements/query_casts.ts";

export interface SaveDocumentOptions {
  /** The scope: the document is inside it before and after. */
  readonly scope: Filter;
  /** The conditions of the request: the document matches them before. */
  readonly filter: Filter;
  readonly collation?: object | undefined;
  /** Whether an update replaces all that it writes, so that it depends on nothing that was read. */
  readonly overwrites?: boolean;
  readonly statementOptions: (session?: ClientSession, mostMS?: number) => WriteOptions;
  readonly together?: Together;
}

/** Runs an insert or a removal together with other writes; it may be called more than once. */
export type Together = (write: Write) => Promise<void>;

/**
 * Saves a document as Mongoose does: validation and middleware run once, only what changed is written, the version goes up.
 * Scope and filter are part of the statement. A 409 if what the update depends on has changed.
 */
export async function saveDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  const saved = doc.isNew
    ? insertDocuments([doc], {
      ...options,
      async send({ collection }, { all: [values], options }) {
        await collection.insertOne(values as StoredObject, options);
      },
    })
    : updateDocument(doc, options);
  await saved.catch(throwOnly);
}

function updateDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  return updateDocuments([doc], {
    ...options,
    async send([statement], { collection }) {
      const { statementOptions, together = (write) => write() } = options;
      const { q, u } = statement as UpdateStatement;
      await together(async (session, mostMS) => {
        const own = statementOptionsOf(doc, statementOptions(session, mostMS));
        const result = await collection.updateOne(q, u, own);
        if (result.acknowledged && result.matchedCount === 0) throw conflict();
      });
    },
  });
}

/** Saves stored documents of one collection by one bulk of updates, each bound as if it were saved alone. */
export async function saveDocuments(
  docs: readonly Document[],
  options: SaveDocumentOptions,
): Promise<void> {
  const { statementOptions, together = (write) => write() } = options;
  const [first] = docs;
  const isOther = (doc: Document) =>
    doc.db !== first?.db || doc.collection.name !== first.collection.name;
  if (docs.some(isOther)) {
    throw new TypeError("Cannot write together: the documents are of several collections");
  }
  if (first !== undefined && docs.length === 1) return await updateDocument(first, options);
  await updateDocuments(docs, {
    ...options,
    send: (updates, first) =>
      together(async (session) => {
        const met = await sendUpdates(first, updates, statementOptions(session));
        if (met < updates.length) throw conflict();
      }),
  });
}

async function updateDocuments(
  docs: readonly Document[],
  { send, ...options }: SaveDocumentOptions & {
    readonly send: (updates: readonly UpdateStatement[], first: Document) => Promise<void>;
  },
): Promise<void> {
  const [first] = docs;
  if (first === undefined) return;
  const model = first.constructor as Model<unknown>;
  const scope = castFilter(model, options.scope);
  const filter = castFilter(model, options.filter);
  const kept = docs.map(readSnapshot);
  for (const doc of docs) {
    const key = versionKeyOf(doc);
    if (key === undefined) continue;
    // The version is counted even if nothing has changed: timestamps are renewed then, too.
    if (!doc.isModified()) doc.markModified(key);
    // What is stored there may be no number: the update replaces it.
    doc.$markValid(key);
  }
  await saveBy(docs, async () => {
    const updates = docs.map((doc, index) =>
      boundUpdate(doc, { ...options, scope, filter, kept: kept[index] as Snapshot })
    );
    const judged = updates.flatMap(({ changed }) => changed === undefined ? [] : [changed]);
    await checkScope(judged, { scope, connection: first.db });
    await send(updates.map(({ statement }) => statement), first).catch(throwClash);
    for (const [index, doc] of docs.entries()) {
      markSaved(doc);
      const { key, version } = updates[index] as BoundUpdate;
      if (key !== undefined) setRaw(doc, { path: key, value: version });
    }
  });
}

/** Inserts several documents by one statement. Throws a BulkError of those that are refused. */
export async function insertDocuments(
  docs: readonly Document[],
  { scope, statementOptions, together = (write) => write(), send = insertAll }:
    & SaveDocumentOptions
    & { readonly send?: typeof insertAll },
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
    const all = await mapPaced(docs, valuesOfNew);
    if (!isEmpty(scope)) {
      await checkScope(all, { scope: castFilter(model, scope), connection: model.db });
    }
    await together((session, mostMS) => {
      const options = statementOptionsOf(first, statementOptions(session, mostMS));
      return send(model, { all, options });
    });
    await mapPaced(docs, markSaved);
  });
}

/** Inserts new documents of one model by one statement, each by itself. Returns the errors of those that are not inserted. */
export async function insertEach(
  docs: readonly Document[],
  { scope, statementOptions }: SaveDocumentOptions,
): Promise<ReadonlyMap<Document, unknown>> {
  const [first] = docs;
  if (first === undefined) return new Map();
  const model = first.constructor as Model<unknown>;
  return await saveEachBy(docs, async (valid) => {
    const all = await mapPaced(valid, valuesOfNew);
    const refused = await outsideOf(all, { scope, model });
    const kept = all.filter((_, index) => !refused.has(index));
    const places = [...all.keys()].filter((index) => !refused.has(index));
    const options = { ...statementOptionsOf(first, statementOptions()), ordered: false };
    try {
      if (kept.length > 0) await insertAll(model, { all: kept, options });
    } catch (error) {
      if (!(error instanceof BulkError)) throw error;
      for (const [index, each] of error.errors) refused.set(places[index] as number, each);
    }
    await mapPaced(valid.filter((_, index) => !refused.has(index)), markSaved);
    if (refused.size > 0) throw new BulkError(refused);
  });
}

/** Returns the error of each value that is outside of a scope. */
async function outsideOf(
  all: readonly StoredObject[],
  { scope, model }: { readonly scope: Filter; readonly model: Model<unknown> },
): Promise<Map<number, unknown>> {
  const errors = new Map<number, unknown>();
  if (isEmpty(scope)) return errors;
  const options = { scope: castFilter(model, scope), connection: model.db };
  try {
    await checkScope(all, options);
    return errors;
  } catch (error) {
    if (!isOutOfReach(error)) throw error;
  }
  for (const [index, values] of all.entries()) {
    await checkScope([values], options).catch((error) => errors.set(index, error));
  }
  return errors;
}

function valuesOfNew(doc: Document): StoredObject {
  const key = versionKeyOf(doc);
  if (key !== undefined) setRaw(doc, { path: key, value: 0 });
  return valuesToStore(doc);
}

export async function insertAll(
  model: Model<unknown>,
  { all, options }: {
    readonly all: readonly StoredObject[];
    readonly options: mongo.BulkWriteOptions;
  },
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

/** Removes a document through its own middleware; a 409 unless it is still in the scope and still selected. */
export async function removeDocument(
  doc: Document,
  { scope, filter, collation, statementOptions, together }: SaveDocumentOptions,
): Promise<void> {
  const model = doc.constructor as Model<unknown>;
  const all = [scope, filter].filter((each) => !isEmpty(each))
    .map((each) => castFilter(model, each));
  const query = doc.deleteOne().setOptions({ ...KEEP_CONDITIONS, ...collation && { collation } });
  if (all.length > 0) matchAsIs(query, { $and: all });
  const check = ({ acknowledged, deletedCount }: mongo.DeleteResult) => {
    if (acknowledged && Number(deletedCount) === 0) throw conflict();
  };
  const removal = { name: "deleteOne", statementOptions, together, check } as const;
  await sendWith(query as unknown as Query<mongo.DeleteResult, unknown>, removal);
}

export async function removeMatching(
  model: Model<unknown>,
  { scope, filter, collation, statementOptions, together, options = {} }: SaveDocumentOptions & {
    /** Options of the query, which hooks may have given. */
    readonly options?: Record<string, unknown> | undefined;
  },
): Promise<void> {
  const given = { ...KEEP_CONDITIONS, ...collation && { collation }, ...options };
  const query = withConditions(model.deleteMany({}, given as never), everyFilter(filter, scope));
  await sendWith(query as never, {
    name: "deleteMany",
    together,
    statementOptions(session) {
      const statement = statementOptions(session);
      const most = Number(options.maxTimeMS) || statement.maxTimeMS;
      return { ...statement, maxTimeMS: Math.min(most, statement.maxTimeMS) };
    },
  });
}

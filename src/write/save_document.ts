import mongoose from "mongoose";
import type { ClientSession, Document, Model, mongo } from "mongoose";
import { BulkError, throwOnly } from "../errors/bulk_error.ts";
import { mapPaced } from "../errors/event_loop.ts";
import { isFailure, StoreFailure } from "../errors/failure.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { everyFilter, type Filter, isEmpty } from "../filter/filters.ts";
import { setRaw } from "../schema/mongoose/documents/document_values.ts";
import {
  markSaved,
  saveBy,
  saveEachBy,
  type StatementOptions,
  statementOptionsOf,
} from "../schema/mongoose/statements/save_by.ts";
import {
  alwaysRead,
  BEFORE_WRITE,
  changedBy,
  projectionOfWrite,
  type WrittenEntity,
} from "./written_entity.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { sendUpdates, type UpdateStatement } from "../schema/mongoose/statements/commands.ts";
import type { Write } from "../schema/mongoose/statements/send_with.ts";
import { AFTER_WRITE, isTold } from "../schema/mongoose/statements/update_and_read.ts";
import { runOutside } from "../schema/mongoose/statements/transaction_around.ts";
import {
  readSnapshot,
  type Snapshot,
  type StoredObject,
  storedText,
  valuesToStore,
} from "./stored_values.ts";
import { holdStored } from "./hold_stored.ts";
import { forgetSet } from "./set_paths.ts";
import { type BoundUpdate, boundUpdate, checkScope, throwClash } from "./update_conditions.ts";
import { asVersion, versionKeyOf } from "../schema/fields/system_fields.ts";

export interface SaveDocumentOptions {
  /**
   * Not cast yet. The document must match it before and after the write, so that a write neither changes a document
   * outside of the scope nor moves a document out of it.
   */
  readonly scope: Filter;
  /**
   * The stored document must match them before the write, because another request may have changed it since it was
   * read.
   */
  readonly filter: Filter;
  readonly collation?: object | undefined;
  /**
   * Whether an update replaces all values that it writes, as PUT does. It does not depend on the values that were read,
   * so it may overwrite changes of other requests.
   */
  readonly overwrites?: boolean;
  readonly statementOptions: (session?: ClientSession, mostMS?: number) => StatementOptions;
  readonly together?: Together;
  /** Whether each write returns the entities that it has written, because class options record them. */
  readonly isRecorded?: boolean;
  /** The update that is sent in the place of a removal. Missing if a removal removes the document. */
  readonly removal?: Update | undefined;
  /** The projection of the entity after an update, without the fields that only their own routes show. */
  readonly shown?: Readonly<Record<string, 0>>;
}

/** The entities that a statement has written. Missing if no class option records them. */
export type Written = readonly WrittenEntity[] | undefined;

/** A transaction that is repeated calls `write` more than once. */
export type Together = (write: Write<Written>) => Promise<void>;

export const alone: Together = async (write) => void await write();

/**
 * Validation and middleware run once, and the scope and the filter are conditions of the statement, so they hold at the
 * time of the write. Throws "changed" if a value on which the update depends has changed since the document was read.
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
    async send([update], { collection }) {
      const { statementOptions, together = alone, isRecorded = false, shown = {} } = options;
      const { statement: { q, u }, key = "", version } = update as BoundUpdate;
      const projection = isEmpty(shown) ? {} : { projection: shown };
      let stored: StoredObject | null = null;
      await together(async (session, mostMS) => {
        const own = statementOptionsOf(doc, statementOptions(session, mostMS));
        if (isRecorded) {
          const before = await collection.findOneAndUpdate(q, u, {
            ...own,
            projection: projectionOfWrite([u], alwaysRead(doc)),
            ...REPLACED,
          });
          if (before === null) throw new StoreFailure({ kind: "changed" });
          // If another request has changed the entity since it was read, the entity is read in the same transaction.
          const isAsRead = (asVersion(before[key]) ?? 0) + 1 === version;
          const reading = { ...own, ...projection, readPreference: "primary" } as const;
          stored = isAsRead ? null : await collection.findOne({ _id: doc._id }, reading);
          return [{ id: doc._id, before, changed: changedBy(u, before) }];
        }
        stored = await collection.findOneAndUpdate(q, u, { ...own, ...projection, ...AFTER_WRITE });
        if (stored === null && isTold(doc, own)) throw new StoreFailure({ kind: "changed" });
        return undefined;
      });
      return stored ?? undefined;
    },
  });
}

/** The result of the update is the stored values before it, because class options record them. */
export const REPLACED = { ...BEFORE_WRITE, returnDocument: "before" } as const;

/** Each update has the conditions of a single save. Throws "changed" if an update matches no document. */
export async function saveDocuments(
  docs: readonly Document[],
  options: SaveDocumentOptions,
): Promise<void> {
  const { scope, statementOptions, together = alone, isRecorded = false } = options;
  const [first] = docs;
  const isOther = (doc: Document) =>
    doc.db !== first?.db || doc.collection.name !== first.collection.name;
  if (docs.some(isOther)) {
    throw new TypeError("Cannot write together: the documents are of several collections");
  }
  if (first !== undefined && docs.length === 1) return await updateDocument(first, options);
  await updateDocuments(docs, {
    ...options,
    async send(bound, first) {
      const updates = bound.map(({ statement }) => statement);
      await together(async (session) => {
        const statement = statementOptions(session);
        const before = isRecorded ? await readBefore(docs, { updates, statement, scope }) : [];
        const met = await sendUpdates(first, updates, statement);
        if (met < updates.length) throw new StoreFailure({ kind: "changed" });
        return isRecorded ? before : undefined;
      });
      return undefined;
    },
  });
}

/** The read is in the transaction of the bulk, so no other write comes between. */
async function readBefore(
  docs: readonly Document[],
  { updates, statement, scope }: {
    readonly updates: readonly UpdateStatement[];
    readonly statement: StatementOptions;
    readonly scope: Filter;
  },
): Promise<WrittenEntity[]> {
  const [first] = docs as readonly [Document];
  const ids = docs.map(({ _id }) => _id);
  const projection = projectionOfWrite(updates.map(({ u }) => u), alwaysRead(first));
  const options = { ...BEFORE_WRITE, ...statement, projection };
  const named = everyFilter({ _id: { $in: ids } }, scope);
  const filter = castFilter(first.constructor as Model<unknown>, named);
  const found = await first.collection.find(filter, options).toArray();
  const byId = new Map(found.map((each) => [storedText(each._id), each]));
  return docs.map(({ _id }, index) => {
    const before = byId.get(storedText(_id)) ?? {};
    return { id: _id, before, changed: changedBy((updates[index] as UpdateStatement).u, before) };
  });
}

async function updateDocuments(
  docs: readonly Document[],
  { send, ...options }: SaveDocumentOptions & {
    /** Returns the stored values after the only update, if the database returns them. */
    readonly send: (
      updates: readonly BoundUpdate[],
      first: Document,
    ) => Promise<StoredObject | undefined>;
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
    // Every save increments the version and renews the timestamps, even if no other value has changed.
    if (!doc.isModified()) doc.markModified(key);
    // A stored version that is not a number must not fail the validation. The update itself sets or increments the
    // version.
    doc.$markValid(key);
  }
  await saveBy(docs, async () => {
    const updates = docs.map((doc, index) =>
      boundUpdate(doc, { ...options, scope, filter, kept: kept[index] as Snapshot })
    );
    const judged = updates.flatMap(({ changed }) => changed === undefined ? [] : [changed]);
    await checkScope(judged, { scope, connection: first.db });
    const [only] = updates.length === 1 ? updates : [];
    const expected = only?.expected();
    const stored = await send(updates, first).catch(throwClash);
    for (const [index, doc] of docs.entries()) {
      const { key, version } = updates[index] as BoundUpdate;
      markSaved(doc);
      forgetSet(doc);
      if (expected !== undefined && stored !== undefined) {
        const others = new Set([...Object.keys(options.shown ?? {}), key ?? ""]);
        holdStored(doc, { expected, stored, others });
      }
      if (key === undefined) continue;
      setRaw(doc, { path: key, value: asVersion(stored?.[key]) ?? version });
    }
  });
}

/** Throws a `BulkError` with the error of each refused document by its index. */
export async function insertDocuments(
  docs: readonly Document[],
  { scope, statementOptions, together = alone, isRecorded = false, send = insertAll }:
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
    await together(async (session, mostMS) => {
      const options = statementOptionsOf(first, statementOptions(session, mostMS));
      await send(model, { all, options });
      return isRecorded ? all.map((created) => ({ id: created._id, created })) : undefined;
    });
    await mapPaced(docs, markSaved);
  });
}

export interface InsertEachOptions extends Pick<SaveDocumentOptions, "scope" | "statementOptions"> {
  /** Inserts documents that class options record. Missing if the documents need no transaction. */
  readonly inTransactions?:
    | ((
      docs: readonly Document[],
      insert: (docs: readonly Document[], together: Together) => Promise<void>,
    ) => Promise<ReadonlyMap<Document, unknown>>)
    | undefined;
}

/** Each document succeeds or fails separately. Returns the errors of the documents that were not inserted. */
export async function insertEach(
  docs: readonly Document[],
  { scope, statementOptions, inTransactions }: InsertEachOptions,
): Promise<ReadonlyMap<Document, unknown>> {
  const [first] = docs;
  if (first === undefined) return new Map();
  const model = first.constructor as Model<unknown>;
  return await saveEachBy(docs, async (valid) => {
    const values = await mapPaced(valid, valuesOfNew);
    const refused = await outsideOf(values, { scope, model });
    const places = [...values.keys()].filter((index) => !refused.has(index));
    const kept = places.map((index) => valid[index] as Document);
    const all = new Map(kept.map((doc, at) => [doc, values[places[at] as number] as StoredObject]));
    const insert = async (some: readonly Document[], session?: ClientSession, mostMS?: number) => {
      const created = some.map((doc) => all.get(doc) as StoredObject);
      const options = statementOptionsOf(first, statementOptions(session, mostMS));
      await insertAll(model, {
        all: created,
        options: { ...options, ordered: session !== undefined },
      });
      return created.map((each) => ({ id: each._id, created: each }));
    };
    try {
      if (inTransactions !== undefined) {
        const errors = await inTransactions(
          kept,
          async (some, together) =>
            await together((session, mostMS) => insert(some, session, mostMS)),
        );
        for (const [doc, error] of errors) refused.set(valid.indexOf(doc), error);
      } else if (kept.length > 0) await insert(kept);
    } catch (error) {
      if (!(error instanceof BulkError)) throw error;
      for (const [index, each] of error.errors) refused.set(places[index] as number, each);
    }
    await mapPaced(valid.filter((_, index) => !refused.has(index)), markSaved);
    if (refused.size > 0) throw new BulkError(refused);
  });
}

/** Keyed by the index of the value. Each value is checked alone only if the check of all values fails. */
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
    if (!isFailure(error, "outOfScope")) throw error;
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

/**
 * The error of each refused document gets the form of the error of a single statement, so that both are answered in the
 * same way.
 */
async function causeOf(
  { collection }: Model<unknown>,
  error: mongo.MongoBulkWriteError,
): Promise<unknown> {
  const refused = [error.writeErrors].flat();
  const { errorResponse } = error;
  if (refused.length === 0) return errorResponse instanceof Error ? errorResponse : error;
  // The error has undone the transaction of the request, so the read of the indexes must not join it.
  const indexes = await runOutside(() => collection.indexes());
  return new BulkError(
    new Map(refused.map(({ index, code, errmsg = "" }) => {
      // The answer to a duplicate key names the fields of the index, but the errors of a bulk contain only its name.
      const [, name] = /^E11000 .*? index: (.+?) dup key/.exec(errmsg) ?? [];
      const keyPattern = indexes.find((each) => each.name === name)?.key;
      const response = { message: errmsg, code, ...keyPattern && { keyPattern } };
      return [index, new mongoose.mongo.MongoServerError(response)];
    })),
  );
}

import type { Document, Model } from "mongoose";
import { BulkError, throwOnly } from "../errors/bulk_error.ts";
import { mapPaced } from "../errors/event_loop.ts";
import { isFailure, StoreFailure } from "../errors/failure.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { type Filter, isEmpty } from "../filter/filters.ts";
import { asVersion, versionKeyOf } from "../schema/fields/system_fields.ts";
import { rawValues, setRaw } from "../schema/mongoose/documents/document_values.ts";
import { markSaved, saveBy, saveEachBy } from "../schema/mongoose/statements/save_by.ts";
import type { StoredObject } from "../store/values.ts";
import { insertMany, insertOne } from "../store/writes/insert.ts";
import { insertEach } from "../store/writes/insert_each.ts";
import { statementsForUpdate, type WriteContext } from "../store/writes/transact.ts";
import { updateEach, updateOne } from "../store/writes/update.ts";
import { holdStored, orderAsRead } from "./hold_stored.ts";
import { factsOf, type Snapshot } from "./document_facts.ts";
import { readSnapshot, valuesToStore } from "./stored_values.ts";
import { type BoundUpdate, boundUpdate, writtenPaths } from "./update_conditions.ts";
import { checkScope, throwChanged } from "../store/writes/conditions.ts";

export interface SaveDocumentOptions extends Omit<WriteContext, "model" | "session"> {
  /** The document must match the scope before and after the write. It is not cast yet. */
  readonly scope: Filter;
  /** The filter must still match at the write, because another request may have changed the document. */
  readonly filter: Filter;
  readonly collation?: object | undefined;
  /** `true` if the update may overwrite changes of other requests, as by PUT. */
  readonly overwrites?: boolean;
  /** A projection that leaves out fields with separate routes. */
  readonly shown?: Readonly<Record<string, 0>>;
}

export function writeContextOf(
  first: Document,
  { timeBudget, addedStatements, part, around }: Omit<WriteContext, "model">,
): WriteContext {
  const model = first.constructor as Model<unknown>;
  return { model, timeBudget, addedStatements, part, around, session: first.$session() };
}

/** Throws "changed" if a value on which the update depends has changed. */
export async function saveDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  await (doc.isNew ? insertDocument(doc, options) : updateDocuments([doc], options))
    .catch(throwOnly);
}

function insertDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  return insertBy([doc], {
    ...options,
    insert: (context, [values]) => insertOne(context, values as StoredObject),
  });
}

export async function saveDocuments(
  docs: readonly Document[],
  options: SaveDocumentOptions,
): Promise<void> {
  const [first] = docs;
  const isOther = (doc: Document) =>
    doc.db !== first?.db || doc.collection.name !== first.collection.name;
  if (docs.some(isOther)) {
    throw new TypeError("Cannot write together: the documents are of several collections");
  }
  await updateDocuments(docs, options);
}

async function updateDocuments(
  docs: readonly Document[],
  options: SaveDocumentOptions,
): Promise<void> {
  const [first] = docs;
  if (first === undefined) return;
  const model = first.constructor as Model<unknown>;
  const scope = castFilter(model, options.scope);
  const filter = castFilter(model, options.filter);
  const snapshots = docs.map(readSnapshot);
  for (const doc of docs) {
    const key = versionKeyOf(doc);
    if (key === undefined) continue;
    // Every save increments the version and renews the timestamps, even of an unchanged document.
    if (!doc.isModified()) doc.markModified(key);
    // The update sets the version, so a stored version of another type must not fail the validation.
    doc.$markValid(key);
  }
  await saveBy(docs, async () => {
    const updates = docs.map((doc, index) =>
      boundUpdate(doc, { ...options, scope, filter, snapshot: snapshots[index] as Snapshot })
    );
    const checked = updates.flatMap(({ changed }) => changed === undefined ? [] : [changed]);
    await checkScope(checked, { scope, connection: first.db });
    const [only] = updates.length === 1 ? updates : [];
    const expected = only?.expected();
    const stored = await sendBound(docs, { ...options, scope, updates }).catch(throwChanged);
    for (const [index, doc] of docs.entries()) {
      const { key, version } = updates[index] as BoundUpdate;
      markSaved(doc);
      factsOf(doc).set = undefined;
      if (expected !== undefined && stored !== undefined) {
        const others = new Set([...Object.keys(options.shown ?? {}), key ?? ""]);
        holdStored(doc, { expected, stored, others });
      }
      if (key !== undefined) {
        setRaw(doc, { path: key, value: asVersion(stored?.[key]) ?? version });
      }
      if (stored !== undefined) orderAsRead(doc, Object.keys(stored));
    }
  });
}

/** Returns `undefined` for several updates, because their one command returns no stored values. */
async function sendBound(
  docs: readonly Document[],
  { updates, ...options }: SaveDocumentOptions & { readonly updates: readonly BoundUpdate[] },
): Promise<StoredObject | undefined> {
  const [first] = docs as readonly [Document];
  const paths = updates.flatMap(({ statement: { u } }) => writtenPaths(u));
  const context = writeContextOf(first, {
    ...options,
    addedStatements: statementsForUpdate(options.addedStatements, paths),
  });
  if (docs.length > 1) {
    const all = updates.map(({ statement }, index) => ({ ...statement, id: docs[index]?._id }));
    return void await updateEach(context, { updates: all, scope: options.scope });
  }
  const [{ statement: { q: filter, u: update } }] = updates as readonly [BoundUpdate];
  const { shown: projection = {} } = options;
  const { isMet, after } = await updateOne(context, { filter, update, id: first._id, projection });
  if (!isMet) throw new StoreFailure({ kind: "changed" });
  return after;
}

export async function insertDocuments(
  docs: readonly Document[],
  options: SaveDocumentOptions,
): Promise<void> {
  await insertBy(docs, { ...options, insert: insertMany });
}

async function insertBy(
  docs: readonly Document[],
  { scope, insert, ...options }: SaveDocumentOptions & {
    readonly insert: (context: WriteContext, all: readonly StoredObject[]) => Promise<void>;
  },
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
    await insert(writeContextOf(first, options), all);
    await mapPaced(docs, markSaved);
  });
}

export async function insertEachDocument(
  docs: readonly Document[],
  { scope, ...options }: Omit<SaveDocumentOptions, "filter">,
): Promise<ReadonlyMap<Document, unknown>> {
  const [first] = docs;
  if (first === undefined) return new Map();
  return await saveEachBy(docs, async (valid) => {
    const context = writeContextOf(first, options);
    const values = await mapPaced(valid, valuesOfNew);
    const refused = await outsideOf(values, { scope, model: context.model });
    const places = [...values.keys()].filter((index) => !refused.has(index));
    const some = places.map((index) => values[index] as StoredObject);
    const errors = await insertEach(context, some);
    for (const [index, each] of errors) refused.set(places[index] as number, each);
    await mapPaced(valid.filter((_, index) => !refused.has(index)), markSaved);
    if (refused.size > 0) throw new BulkError(refused);
  });
}

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
  // MongoDB stores the `_id` first.
  orderAsRead(doc, [...new Set(["_id", ...Object.keys(rawValues(doc))])]);
  return valuesToStore(doc);
}

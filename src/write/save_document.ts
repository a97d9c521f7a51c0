import mongoose from "mongoose";
import type { ClientSession, Document, Model, mongo, Query } from "mongoose";
import { conflict } from "../errors/refusals.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { deltaOf, rawValues } from "../schema/mongoose/documents/document_values.ts";
import { markSaved, saveAllBy, saveBy, writeSaved } from "../schema/mongoose/statements/save_by.ts";
import type { WriteOptions } from "../schema/mongoose/statements/save_by.ts";
import { sendUpdates } from "../schema/mongoose/statements/commands.ts";
import type { UpdateStatement } from "../schema/mongoose/statements/commands.ts";
import type { Write } from "../schema/mongoose/statements/send_with.ts";
import { checkScope } from "./check_scope.ts";
import { keptValues, storedValues } from "./stored_values.ts";
import type { KeptValues, StoredObject } from "./stored_values.ts";
import { updateConditions } from "./update_conditions.ts";
import { asVersion, isOddVersion, versionKey } from "../schema/fields/system_fields.ts";
import { matchAsIs } from "../schema/mongoose/statements/query_casts.ts";
import { sendWith } from "../schema/mongoose/statements/send_with.ts";

export interface SaveDocumentOptions {
  /** The scope: the document is inside it before and after. */
  readonly scope: Filter;
  /** The conditions of the request: the document matches them before. */
  readonly filter: Filter;
  readonly collation?: object | undefined;
  /** Whether an update replaces all that it writes, so that it depends on nothing that was read. */
  readonly overwrites?: boolean;
  readonly statementOptions: (session?: ClientSession) => WriteOptions;
  /** Runs an insert or a removal together with other writes; it may be called more than once. */
  readonly together?: (write: Write) => Promise<void>;
}

/**
 * Saves a document by Mongoose: validation and middleware run once, only what changed is written, the version goes up, and
 * scope and filter are part of the statement. A 409 if what the update depends on has changed.
 */
export async function saveDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  const cast = castOptions(doc, options);
  if (doc.isNew) return await saveBy(doc, () => insert(doc, cast));
  const kept = keptValues(doc);
  const settleVersion = countVersion(doc, kept);
  await saveBy(doc, async () => {
    await update(doc, { ...cast, kept });
    settleVersion();
  });
}

function castOptions(doc: Document, options: SaveDocumentOptions): SaveDocumentOptions {
  const model = doc.constructor as Model<unknown>;
  const { scope, filter } = options;
  return { ...options, scope: castFilter(model, scope), filter: castFilter(model, filter) };
}

/** Saves stored documents of one collection by one bulk of updates, each bound as if it were saved alone. */
export async function saveDocuments(
  docs: readonly Document[],
  { together = (write) => write(), ...options }: SaveDocumentOptions,
): Promise<void> {
  const [first] = docs;
  if (first === undefined) return;
  const isOther = (doc: Document) =>
    doc.db !== first.db || doc.collection.name !== first.collection.name;
  if (docs.some(isOther)) {
    throw new TypeError("Cannot write together: the documents are of several collections");
  }
  const cast = castOptions(first, options);
  const all = docs.map((doc) => {
    const kept = keptValues(doc);
    return { doc, kept, settleVersion: countVersion(doc, kept) };
  });
  await saveAllBy(docs, async () => {
    const updates: UpdateStatement[] = [];
    const judged: StoredObject[] = [];
    const check = (values: StoredObject) => void judged.push(values);
    for (const { doc, kept } of all) {
      const conditions = await updateConditions(doc, { ...cast, kept, check });
      const { where, changes } = deltaOf(doc);
      updates.push({
        q: { ...where, ...conditions },
        u: isEmpty(changes) ? { $set: {} } : changes,
      });
    }
    await checkScope(judged, { scope: cast.scope, connection: first.db });
    await together(async (session) => {
      const met = await sendUpdates(first, updates, options.statementOptions(session));
      if (met < updates.length) throw conflict();
    }).catch(asConflict);
    for (const { doc, settleVersion } of all) {
      markSaved(doc);
      settleVersion();
    }
  });
}

async function insert(
  doc: Document,
  { scope, statementOptions, together = (write) => write() }: SaveDocumentOptions,
): Promise<void> {
  if (!isEmpty(scope)) await checkScope([storedValues(doc)], { scope, connection: doc.db });
  await together((session) => writeSaved(doc, statementOptions(session)));
}

async function update(
  doc: Document,
  options: SaveDocumentOptions & { readonly kept: KeptValues },
): Promise<void> {
  const { $where: own } = doc as { $where?: Filter };
  doc.$where = await updateConditions(doc, options);
  try {
    await writeSaved(doc, options.statementOptions());
  } catch (error) {
    asConflict(error);
  } finally {
    // Middleware that runs after the write may save the document again.
    if (own === undefined) Reflect.deleteProperty(doc, "$where");
    else doc.$where = own;
  }
}

function asConflict(error: unknown): never {
  throw isPathRefused(error) ? conflict(error) : error;
}

const PATH_NOT_VIABLE = 28;

/** Whether the database refused an update because something else stands now where there was an object. */
export function isPathRefused(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === PATH_NOT_VIABLE;
}

/**
 * Makes the next save of a document count its version: Mongoose's own `increment()` does not count what the document does
 * not show. What it gives is called after the write.
 */
function countVersion(doc: Document, { values }: KeptValues): () => void {
  const key = versionKey(doc);
  if (key === undefined) return () => {};
  const isOdd = isOddVersion(values[key]);
  // A hook may have hidden it in the document.
  const before = asVersion(values[key] ?? doc.get(key)) ?? undefined;
  // Mongoose may have failed to cast it, and could not count it on.
  doc.$markValid(key);
  rawValues(doc)[key] = undefined;
  if (isOdd) doc.set(key, 1);
  else {
    // Mongoose keeps what it has counted for a save before this one, until the field is set.
    doc.set(key, 0);
    rawValues(doc)[key] = undefined;
    doc.$inc(key, 1);
    // Without a value, Mongoose would remove the field.
    if (before !== undefined) rawValues(doc)[key] = before;
  }
  return () => {
    if (!isOdd) rawValues(doc)[key] = (before ?? 0) + 1;
    doc.unmarkModified(key);
  };
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

interface RemoveMatchingOptions extends SaveDocumentOptions {
  /** Options of the query, which hooks may have given. */
  readonly options?: Record<string, unknown> | undefined;
}

export async function removeMatching(
  model: Model<unknown>,
  { scope, filter, collation, statementOptions, together, options = {} }: RemoveMatchingOptions,
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

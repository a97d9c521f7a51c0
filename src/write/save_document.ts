import mongoose from "mongoose";
import type { ClientSession, Document, Model, mongo, Query } from "mongoose";
import { conflict } from "../errors/refusals.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { rawValues } from "../schema/mongoose/documents/document_values.ts";
import { saveBy, writeSaved } from "../schema/mongoose/statements/save_by.ts";
import type { WriteOptions } from "../schema/mongoose/statements/save_by.ts";
import type { Write } from "../schema/mongoose/statements/send_with.ts";
import { checkScope } from "./check_scope.ts";
import { keptValues, storedValues } from "./stored_values.ts";
import type { KeptValues } from "./stored_values.ts";
import { updateConditions } from "./update_conditions.ts";
import { asVersion, versionKey } from "../schema/fields/system_fields.ts";
import { forgetOddVersion, hasOddVersion } from "../schema/mongoose/documents/fit_stored.ts";
import { matchAsIs } from "../schema/mongoose/statements/query_casts.ts";
import { sendWith } from "../schema/mongoose/statements/send_with.ts";

export interface SaveDocumentOptions {
  /** The scope: the document is inside it before and after. */
  readonly scope: Filter;
  /** What the request selects: the document matches it before. */
  readonly filter: Filter;
  readonly collation?: object | undefined;
  readonly statementOptions: (session?: ClientSession) => WriteOptions;
  /** Runs an insert or a removal together with other writes; it may be called more than once. */
  readonly together?: (write: Write) => Promise<void>;
}

/**
 * Saves a document by Mongoose: validation and middleware run once, only what changed is written, the version goes up, and
 * scope and filter are part of the statement.
 *
 * @throws {RestError} 403 if the document would be outside the scope, 409 if it is gone, or has changed in what the
 * update depends on.
 */
export async function saveDocument(doc: Document, options: SaveDocumentOptions): Promise<void> {
  const model = doc.constructor as Model<unknown>;
  const cast = {
    ...options,
    scope: castFilter(model, options.scope),
    filter: castFilter(model, options.filter),
  };
  if (doc.isNew) return await saveBy(doc, () => insert(doc, cast));
  const kept = keptValues(doc);
  const settleVersion = countVersion(doc, kept);
  await saveBy(doc, async () => {
    await update(doc, { ...cast, kept });
    settleVersion();
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
    throw isPathRefused(error) ? conflict(error) : error;
  } finally {
    // Middleware that runs after the write may save the document again.
    if (own === undefined) Reflect.deleteProperty(doc, "$where");
    else doc.$where = own;
  }
}

const PATH_NOT_VIABLE = 28;

/** Whether the database refused an update because something else stands now where there was an object. */
export function isPathRefused(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === PATH_NOT_VIABLE;
}

/**
 * Makes the next save of a document count its version, which then starts at 1 if no number is stored. Mongoose's own
 * `increment()` does not count what the document does not show.
 *
 * @returns What to call after the write: the document then tells the version that was written.
 */
function countVersion(doc: Document, { values }: KeptValues): () => void {
  const key = versionKey(doc);
  if (key === undefined) return () => {};
  const isOdd = hasOddVersion(doc);
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
    forgetOddVersion(doc);
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

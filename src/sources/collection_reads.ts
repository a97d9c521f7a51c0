import type { ClientSession, Document, Model, Schema } from "mongoose";
import { readDocuments } from "../database/read_batches.ts";
import { badParameter, conflict, tooMany } from "../errors/refusals.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { everyFilter, fieldsRead, isCountable, KEEP_CONDITIONS, topOf } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { SEEK_READ } from "../filter/parameters/order.ts";
import { queryOptions } from "../filter/selection.ts";
import { showsOtherThanStored } from "../schema/mongoose/documents/hide_in_json.ts";
import { findsByMiddleware } from "../schema/mongoose/schemas/schema_members.ts";
import { BATCH_SIZE } from "../schema/mongoose/statements/bound_replies.ts";
import type { OpenCollection } from "./direct/read_stored.ts";
import { noteEnd } from "./page_end.ts";
import type { Aggregation, PageRead } from "./source.ts";

interface ListQuery {
  readonly projection: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly page?: PageRead | undefined;
}

/** How many documents one query populates: without a number, Mongoose asks for each one. */
const POPULATED_AT_ONCE = 128;

/** The cursor of the driver. */
interface FoundCursor {
  map(see: (found: object) => object): unknown;
}

export function readListed(
  collection: OpenCollection,
  { projection, options, page }: ListQuery,
): AsyncIterable<readonly object[]> {
  const { model } = collection;
  const query = model.find({}, projection, options);
  const conditions = everyFilter(collection.conditions, page?.afterCursor);
  const batch = options.populate === undefined ? {} : { batchSize: POPULATED_AT_ONCE };
  const { populate = {} } = query.mongooseOptions();
  for (const each of Object.values(populate as Record<string, { options?: object }>)) {
    each.options = { batchSize: BATCH_SIZE, ...each.options };
  }
  const cursor = withConditions(query, conditions).cursor(batch);
  cursor.once("cursor", (opened: FoundCursor | null) => {
    opened?.map((found) => {
      noteEnd(found, page);
      return found;
    });
  });
  return readDocuments(cursor, { ...collection, page });
}

/** Counts what a collection selects, pages aside; no further than up to a number. The caller bounds the wait. */
export async function countInCollection(
  { model, conditions, selection, maxTimeMS }: OpenCollection,
  upTo: number | undefined,
): Promise<number> {
  const given = queryOptions(selection, { maxTimeMS, page: false });
  const { sort: _sort, populate: _populate, ...others } = given;
  const options = { ...others, ...upTo !== undefined && { limit: upTo } };
  if (!isCountable(conditions)) {
    const query = model.find({}, { _id: 1 }, { ...options, lean: true });
    return (await withConditions(query, conditions).exec()).length;
  }
  const query = model.countDocuments({}, options as never);
  return await withConditions(query, conditions).exec();
}

/** Aggregates what a collection selects, pages aside. The caller bounds the wait. */
export async function aggregateSelected(
  { model, conditions, selection, maxTimeMS }: OpenCollection,
  { stages, fields }: Aggregation,
): Promise<Record<string, unknown>[]> {
  if (!isCountable(conditions)) throw badParameter("group", "no conditions by distance beside it");
  // Only the compiled model has what plugins of all schemas and kinds add.
  const schemas = [model, ...Object.values(model.discriminators ?? {})].map(({ schema }) => schema);
  if (findsByMiddleware(model.schema as Schema)) {
    throw new TypeError(`Cannot group "${model.modelName}": a plugin has middleware of find()`);
  }
  const other = fields.find((name) =>
    schemas.some((each) => showsOtherThanStored(each.path(name), each as Schema))
  );
  if (other !== undefined) {
    throw new TypeError(
      `Cannot group "${model.modelName}": a plugin or a kind shows another value of "${other}" than is stored`,
    );
  }
  const { sort: _sort, populate: _populate, lean: _lean, ...options } = queryOptions(selection, {
    ...{ maxTimeMS, page: false },
  });
  const match = { $match: castFilter(model, conditions) };
  return await model.aggregate([match, ...stages], { allowDiskUse: false, ...options }).exec();
}

export async function readIds(collection: OpenCollection, most = Infinity): Promise<unknown[]> {
  const { model, conditions, timeBudget, selection, maxTimeMS } = collection;
  const { limit = Infinity, ...given } = queryOptions(selection, { maxTimeMS });
  const read = Math.min(Number(limit), most + 1);
  const options = { ...given, ...Number.isFinite(read) && { limit: read }, lean: true };
  const query = withConditions(model.find({}, { _id: 1 }, options), conditions);
  const found = await timeBudget.wait(query.exec()) as { _id: unknown }[];
  if (found.length > most) throw tooMany(most);
  return found.map(({ _id }) => _id);
}

/** Gives which of some entities are still selected, as a write of the same session meets them. */
export async function readMet(
  { model, conditions, selection: { options: { collation } }, timeBudget }: OpenCollection,
  { ids, session }: {
    readonly ids: readonly unknown[];
    readonly session?: ClientSession | undefined;
  },
): Promise<unknown[]> {
  const { maxTimeMS } = timeBudget.statement();
  const options = {
    ...{ projection: { _id: 1 }, readPreference: "primary", maxTimeMS, batchSize: BATCH_SIZE },
    ...session && { session },
    ...collation !== undefined && { collation },
  };
  const named = castFilter(model, everyFilter({ _id: { $in: [...ids] } }, conditions));
  const found = await model.collection.find(named as never, options as never).toArray();
  return found.map(({ _id }) => _id);
}

/** Gives which identifiers are stored on the primary, whatever scopes and filters say. */
export async function storedOf(
  { model: { collection }, timeBudget, maxTimeMS }: OpenCollection,
  ids: readonly unknown[],
): Promise<unknown[]> {
  const options = { projection: { _id: 1 }, maxTimeMS, readPreference: "primary" } as const;
  const found = collection.find({ _id: { $in: ids as never } }, options);
  return (await timeBudget.wait(found.toArray())).map(({ _id }) => _id);
}

/** Reads values of the entity that conditions name, as they are stored: no digit of a number gets lost. */
export async function readStoredValues(
  { model, timeBudget, maxTimeMS }: OpenCollection,
  { conditions, paths }: { readonly conditions: Filter; readonly paths: readonly string[] },
): Promise<Record<string, unknown> | undefined> {
  const projection = topFields(paths);
  const options = { projection, maxTimeMS, ...SEEK_READ, enableUtf8Validation: false };
  const found = model.collection.findOne(castFilter(model, conditions), options);
  return await timeBudget.wait(found) ?? undefined;
}

/** Projects the fields that paths lead through: of a list, a longer path would leave out what is no object. */
export function topFields(paths: readonly string[]): Record<string, 1> {
  return Object.fromEntries(paths.map((path) => [topOf(path), 1]));
}

type SavedRead = Pick<OpenCollection, "selection" | "timeBudget" | "maxTimeMS">;

/** A secondary may lack what was just saved. */
export const JUST_SAVED = { readPreference: "primary" } as const;

export async function readSaved(
  { _id, constructor: model }: Document,
  { selection: { projection }, timeBudget, maxTimeMS }: SavedRead,
): Promise<object> {
  const query = (model as Model<unknown>).findById(_id, projection, { ...JUST_SAVED, maxTimeMS });
  const found = await timeBudget.wait(query.exec());
  if (found === null) throw conflict();
  return found as object;
}

export async function readAllSaved(
  docs: readonly Document[],
  read: SavedRead,
): Promise<object[]> {
  const { selection: { projection }, timeBudget, maxTimeMS } = read;
  const [model] = docs.map((doc) => doc.constructor as Model<unknown>);
  const query = model?.find({}, projection, { ...KEEP_CONDITIONS, ...JUST_SAVED, maxTimeMS });
  if (query === undefined) return [];
  const named = withConditions(query, { _id: { $in: docs.map(({ _id }) => _id) } });
  const found = await timeBudget.wait(named.exec()) as Document[];
  const shown = new Map(found.map((each) => [String(each._id), each]));
  // A hook may leave the identifier out.
  return await Promise.all(docs.map((doc) => shown.get(String(doc._id)) ?? readSaved(doc, read)));
}

/** How many entities are read at once, at least, behind a page from which hooks leave some out. */
const REST_AT_ONCE = 100;

/** The query options of a page: one entity more tells whether there is another page. */
export function pageOptions({ skip, limit, isRest }: PageRead): Record<string, number> {
  const most = limit + 1;
  const batchSize = Math.min(Math.max(most, REST_AT_ONCE), BATCH_SIZE);
  return { ...skip > 0 && { skip }, ...isRest ? { batchSize } : { limit: most } };
}

/** Projects everything, unselected fields included, which validators and scopes need. */
export function wholeProjection(
  { shape, selection: { scope } }: Pick<OpenCollection, "shape" | "selection">,
): Record<string, true> {
  const read = fieldsRead(scope);
  const isApart = (name: string) => shape.apart.includes(name) && read?.has(name) === false;
  const paths = shape.allUnselected.filter((path) => !isApart(topOf(path)));
  return Object.fromEntries(paths.map((path) => [`+${path}`, true]));
}

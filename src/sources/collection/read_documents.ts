import type { ClientSession, Document, Model, Schema } from "mongoose";
import { POPULATED_AT_ONCE, readDocuments } from "../../store/read_batches.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import {
  everyFilter,
  fieldsRead,
  isCountable,
  KEEP_CONDITIONS,
  topOf,
} from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { SEEK_READ } from "../../filter/order.ts";
import { queryOptions } from "../../filter/selection.ts";
import { showsOtherThanStored } from "../../schema/mongoose/documents/hide_in_json.ts";
import { findsByMiddleware } from "../../schema/mongoose/schemas/schema_members.ts";
import { BATCH_SIZE } from "../../schema/mongoose/statements/bound_replies.ts";
import { findConditions } from "../../schema/mongoose/statements/find_conditions.ts";
import { matchAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import type { OpenCollection } from "./read_stored.ts";
import { noteEnd } from "../window_end.ts";
import type { Aggregation, PageRead } from "../source.ts";

interface ListQuery {
  readonly projection: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly page?: PageRead | undefined;
}

/** The driver's cursor. It has the stored sort values, which Mongoose's cast would change. */
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

/** Entities that middleware of `find()` hides do not count. */
export async function countInCollection(
  { model, conditions, selection, maxTimeMS }: OpenCollection,
  upTo: number | undefined,
): Promise<number> {
  const given = queryOptions(selection, { maxTimeMS, page: false });
  const { sort: _sort, populate: _populate, ...others } = given;
  const options = { ...others, ...upTo !== undefined && { limit: upTo } };
  const find = () =>
    withConditions(model.find({}, { _id: 1 }, { ...options, lean: true }), conditions);
  if (!isCountable(conditions)) return (await find().exec()).length;
  if (!findsByMiddleware(model.schema, "countDocuments")) {
    const query = model.countDocuments({}, options as never);
    return await withConditions(query, conditions).exec();
  }
  const listing = find();
  const found = await findConditions(listing);
  if (found === undefined) return 0;
  if (!isCountable(found)) return (await find().exec()).length;
  const query = model.countDocuments({}, listing.getOptions() as never);
  matchAsIs(query, found);
  return await query.exec();
}

/** Throws if reads of the model show other values, because the results would reveal the stored ones. */
export async function aggregateSelected(
  { model, conditions, selection, maxTimeMS }: OpenCollection,
  { parameter, stages, fields }: Aggregation,
): Promise<Record<string, unknown>[]> {
  if (!isCountable(conditions)) throw new StoreFailure({ kind: "byDistance", parameter });
  // Plugins may have changed schemas when Mongoose compiled the model, so the compiled ones are checked.
  const schemas = [model, ...Object.values(model.discriminators ?? {})].map(({ schema }) => schema);
  if (findsByMiddleware(model.schema, "aggregate")) {
    throw new TypeError(`Cannot aggregate "${model.modelName}": a plugin has middleware of find()`);
  }
  const other = fields.find((name) =>
    schemas.some((each) => showsOtherThanStored(each.path(name), each as Schema))
  );
  if (other !== undefined) {
    throw new TypeError(
      `Cannot aggregate "${model.modelName}": a plugin or a kind shows another value of "${other}" than is stored`,
    );
  }
  const { sort: _sort, populate: _populate, lean: _lean, ...options } = queryOptions(selection, {
    maxTimeMS,
    page: false,
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
  if (found.length > most) throw new StoreFailure({ kind: "tooMany", limit: most });
  return found.map(({ _id }) => _id);
}

/** In the session of a transaction, the write that follows sees the same entities. */
export async function readMet(
  { model, conditions, selection: { options: { collation } }, timeBudget }: OpenCollection,
  { named, session }: {
    readonly named: Filter;
    readonly session?: ClientSession | undefined;
  },
): Promise<unknown[]> {
  const { maxTimeMS } = timeBudget.statement();
  const options = {
    projection: { _id: 1 },
    readPreference: "primary",
    maxTimeMS,
    batchSize: BATCH_SIZE,
    ...session && { session },
    ...collation !== undefined && { collation },
  };
  const all = castFilter(model, everyFilter(named, conditions));
  const found = await model.collection.find(all as never, options as never).toArray();
  return found.map(({ _id }) => _id);
}

/** Finds which entities an earlier request has stored, even hidden ones, so that none is created twice. */
export async function storedOf(
  { model: { collection }, timeBudget, maxTimeMS }: OpenCollection,
  ids: readonly unknown[],
): Promise<unknown[]> {
  const options = { projection: { _id: 1 }, maxTimeMS, readPreference: "primary" } as const;
  const found = collection.find({ _id: { $in: ids as never } }, options);
  return (await timeBudget.wait(found.toArray())).map(({ _id }) => _id);
}

/** Numbers keep their BSON types, because a JavaScript number would lose digits. */
export async function readStoredValues(
  { model, timeBudget, maxTimeMS }: OpenCollection,
  { conditions, paths }: { readonly conditions: Filter; readonly paths: readonly string[] },
): Promise<Record<string, unknown> | undefined> {
  const projection = topFields(paths);
  const options = { projection, maxTimeMS, ...SEEK_READ, enableUtf8Validation: false };
  const found = model.collection.findOne(castFilter(model, conditions), options);
  return await timeBudget.wait(found) ?? undefined;
}

/** With a longer path, MongoDB would leave out array elements that are no objects. */
export function topFields(paths: readonly string[]): Record<string, 1> {
  return Object.fromEntries(paths.map((path) => [topOf(path), 1]));
}

type SavedRead = Pick<OpenCollection, "selection" | "timeBudget" | "maxTimeMS">;

/** A secondary may not have the write yet. */
export const JUST_SAVED = { readPreference: "primary" } as const;

export async function readSaved(
  { _id, constructor: model }: Document,
  { selection: { projection }, timeBudget, maxTimeMS }: SavedRead,
): Promise<object | undefined> {
  const query = (model as Model<object>).findById(_id, projection, { ...JUST_SAVED, maxTimeMS });
  return await timeBudget.wait(query.exec()) ?? undefined;
}

export async function readAllSaved(
  docs: readonly Document[],
  read: SavedRead,
): Promise<(object | undefined)[]> {
  const { selection: { projection }, timeBudget, maxTimeMS } = read;
  const [model] = docs.map((doc) => doc.constructor as Model<unknown>);
  const query = model?.find({}, projection, { ...KEEP_CONDITIONS, ...JUST_SAVED, maxTimeMS });
  if (query === undefined) return [];
  const named = withConditions(query, { _id: { $in: docs.map(({ _id }) => _id) } });
  const found = await timeBudget.wait(named.exec()) as Document[];
  const shown = new Map(found.map((each) => [String(each._id), each]));
  // If the projection of a hook leaves out `_id`, `shown` finds no entity, so each is read by itself.
  return await Promise.all(docs.map((doc) => shown.get(String(doc._id)) ?? readSaved(doc, read)));
}

/** The least batch size: batches as small as a page would be slow. */
const REST_AT_ONCE = 100;

/** Reads one entity more, which tells whether another page follows. */
export function pageOptions({ skip, limit, isRest }: PageRead): Record<string, number> {
  const most = limit + 1;
  const batchSize = Math.min(Math.max(most, REST_AT_ONCE), BATCH_SIZE);
  return { ...skip > 0 && { skip }, ...isRest ? { batchSize } : { limit: most } };
}

/**
 * Also reads fields with `select: false`, for validators and scopes. A property with `apart` has its own route, so only
 * a scope needs it.
 */
export function wholeProjection(
  { shape, selection: { scope } }: Pick<OpenCollection, "shape" | "selection">,
): Record<string, true> {
  const read = fieldsRead(scope);
  const isApart = (name: string) => shape.apart.includes(name) && read?.has(name) === false;
  const paths = shape.allUnselected.filter((path) => !isApart(topOf(path)));
  return Object.fromEntries(paths.map((path) => [`+${path}`, true]));
}

import type { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import { projectionOf, withoutApart } from "../../filter/projection.ts";
import { queryOptions, type Selection } from "../../filter/selection.ts";
import { documentsIn, numberIn } from "../../json/bytes/bson_reader.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { asVersion, type Version, versionKeyOf } from "../../schema/fields/system_fields.ts";
import { pageOptions } from "./read_documents.ts";
import { downgradePlan, planRead, type ReadPlan } from "./plan_read.ts";
import type { BytesRead, EntityName, OneRead, PageRead, ReadRequest } from "../source.ts";
import { type ModelReads, modelSupport } from "./model_support.ts";
import { readPage } from "./read_window.ts";
import type { StoredEntity, StoredQuery } from "./bson_reads.ts";

/** The collection of a route, with the conditions and the limits of one request. */
export interface OpenCollection {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly selection: Selection;
  /** The filter for the entity that the path of the request names, not cast yet. */
  readonly name?: Filter;
  /** The joined conditions of the client, of hooks, of scopes and of the parent, not cast yet. */
  readonly conditions: Filter;
  readonly timeBudget: TimeBudget;
  readonly maxTimeMS: number;
  /** Whether a parent refers to the entities. A new entity is written together with the reference of its parent. */
  readonly linked?: boolean;
  /** The field by which the path of a replacement names the entity. */
  readonly by?: string | undefined;
}

/**
 * The options of one read of a collection. With `isOne`, the path of the request names one entity, so the read ignores
 * `skip` and `limit` and includes the version.
 */
interface StoredRead {
  readonly request: ReadRequest;
  readonly page?: PageRead | undefined;
  readonly isOne?: boolean;
}

/** Returns the plan by which a request reads a collection. With `needsEntities`, the plan cannot be bytes. */
export function planIn(
  { model, shape, selection }: OpenCollection,
  { request, needsEntities = false }: {
    readonly request: ReadRequest;
    readonly needsEntities?: boolean;
  },
): ReadPlan {
  const { hooks, forChange, select } = request;
  const { needsMongoose } = modelSupport(model, shape);
  const plan = planRead({ hooks, forChange, isEmbedded: false, shape, needsMongoose });
  return downgradePlan(plan, { forChange, needsEntities, selection, shape, select });
}

function queryOf(
  { request: { forChange, select, separator }, page, isOne = false }: StoredRead,
  { model, shape, selection, conditions, maxTimeMS }: OpenCollection,
): StoredQuery {
  const given = forChange ? {} : selection.projection;
  const { lean: _lean, ...read } = queryOptions(selection, { maxTimeMS, page: !isOne });
  const key = isOne ? versionKeyOf(model) : undefined;
  return {
    conditions: castFilter(model, everyFilter(conditions, page?.afterCursor)),
    options: { ...read, ...page && pageOptions(page) },
    projection: select === undefined ? withoutApart(given, shape) : projectionOf(select),
    also: key === undefined ? page?.paths : [key],
    separator,
  };
}

/** Returns the readers of a model that need no Mongoose. Throws if only Mongoose can read the model. */
function readsOf({ model, shape }: OpenCollection): ModelReads {
  const { reads, needsMongoose } = modelSupport(model, shape);
  if (reads !== undefined) return reads;
  throw new TypeError(`Cannot read "${model.modelName}" without Mongoose: ${needsMongoose}`);
}

/**
 * Opens a read whose plan is bytes. `nameFilter` returns the filter for the entity with a name, or `undefined` if no
 * entity can have the name.
 */
export function openBytes(
  request: ReadRequest,
  { collection, nameFilter }: {
    readonly collection: OpenCollection;
    readonly nameFilter: (name: EntityName) => Filter | undefined;
  },
): BytesRead {
  const { reader } = readsOf(collection);
  const { timeBudget } = collection;
  const { finder } = request;
  return {
    kind: "bytes",
    list() {
      const query = queryOf({ request }, collection);
      return finder === undefined
        ? reader.read(query, timeBudget)
        : reader.readPopulated(query, { finder, timeBudget });
    },
    each: (page) => reader.readEach(queryOf({ request, page }, collection), { finder, timeBudget }),
    page(page, count) {
      const query = queryOf({ request, page }, collection);
      return timeBudget.wait(readPage({ reader, query, page, count, finder }, collection));
    },
    async one(name) {
      const filter = nameFilter(name);
      return filter === undefined ? null : await readOne(request, { ...collection, name: filter });
    },
  };
}

async function readOne(request: ReadRequest, collection: OpenCollection): Promise<OneRead | null> {
  const { reader } = readsOf(collection);
  const query = queryOf({ request, isOne: true }, collection);
  const stored = await findOne(query, collection);
  if (stored === undefined) return null;
  const version = storedVersion(stored, query.also?.[0]);
  const { finder } = request;
  if (finder === undefined) return { text: reader.writerFor(query).joined([stored]), version };
  const text = reader.joined([stored], { finder, ...query });
  return { text: await collection.timeBudget.wait(text), version };
}

/** Reads the entities of a list for hooks. The driver reads the values, without a query of Mongoose. */
export function storedEntities(
  { request, page }: StoredRead,
  collection: OpenCollection,
): AsyncIterable<readonly StoredEntity[]> {
  const { forChange } = request;
  const query = queryOf({ request: { ...request, select: undefined }, page }, collection);
  const { timeBudget } = collection;
  return readsOf(collection).reader.entities(query, { timeBudget, page, forChange });
}

/**
 * Reads the entity that the path of the request names, for hooks. The driver reads the values, without a query of
 * Mongoose. Returns `null` if no entity matches.
 */
export async function storedEntity(
  request: ReadRequest,
  collection: OpenCollection,
): Promise<StoredEntity | null> {
  const { reader } = readsOf(collection);
  const { forChange } = request;
  const whole = { ...request, select: undefined };
  // The query reads the version only if the projection includes it, because hooks would see the version.
  const { also: _also, ...query } = queryOf({ request: whole, isOne: true }, collection);
  const stored = await findOne(forChange ? query : reader.selected(query), collection);
  return stored === undefined ? null : reader.entity(stored, query, forChange);
}

async function findOne(
  query: StoredQuery,
  collection: OpenCollection,
): Promise<Buffer | undefined> {
  const { model, name = {}, timeBudget } = collection;
  const reads = readsOf(collection);
  const named = castFilter(model, name);
  const { _id: shown = true } = query.projection;
  // Shared reads find the document of each request by its `_id`, so the projection must include `_id`.
  if (named._id instanceof mongoose.Types.ObjectId && shown) {
    return await timeBudget.wait(reads.shared.find(named._id, query));
  }
  const conditions = everyFilter(named, query.conditions);
  for await (const batch of reads.reader.batches({ ...query, conditions }, timeBudget)) {
    return documentsIn(batch)[0];
  }
  return undefined;
}

function storedVersion(stored: Buffer, name: string | undefined): Version {
  return name === undefined ? null : asVersion(numberIn(stored, name));
}

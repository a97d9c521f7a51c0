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
import { pageOptions } from "../collection_reads.ts";
import { downgradePlan, planRead, type ReadPlan } from "../plan_read.ts";
import type { BytesRead, EntityName, OneRead, PageRead, ReadRequest } from "../source.ts";
import { type DirectReads, directSupport } from "./direct_support.ts";
import { readPage } from "./read_page.ts";
import type { StoredEntity, StoredQuery } from "./stored_reader.ts";

/** A collection as one request may use it. */
export interface OpenCollection {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly selection: Selection;
  /** Selects the entity that the request names, before it is cast. */
  readonly name?: Filter;
  /** The needs of hooks, scopes and the place of the route. */
  readonly conditions: Filter;
  readonly timeBudget: TimeBudget;
  readonly maxTimeMS: number;
  /** Whether a parent refers to its entities: each one is written together with the reference to it. */
  readonly linked?: boolean;
  /** The field by which a path names an entity that is replaced. */
  readonly by?: string | undefined;
}

/** One read of a collection: the request, and whether it names its entity. */
interface StoredRead {
  readonly request: ReadRequest;
  readonly page?: PageRead | undefined;
  readonly isOne?: boolean;
}

/** Returns how a request reads a collection. With `needsEntities`, bytes are not enough. */
export function planIn(
  { model, shape, selection }: OpenCollection,
  { request, needsEntities = false }: {
    readonly request: ReadRequest;
    readonly needsEntities?: boolean;
  },
): ReadPlan {
  const { hooks, forChange, select } = request;
  const { needsMongoose } = directSupport(model, shape);
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

/** Returns the readers of a model whose plan does without Mongoose. */
function readsOf({ model, shape }: OpenCollection): DirectReads {
  const { reads, needsMongoose } = directSupport(model, shape);
  if (reads !== undefined) return reads;
  throw new TypeError(`Cannot read "${model.modelName}" without Mongoose: ${needsMongoose}`);
}

/** Opens a read whose plan says bytes. `nameFilter` selects the entity with a name, if there can be one. */
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

/** Reads the entities of a list for hooks, from the values of the driver. */
export function storedEntities(
  { request, page }: StoredRead,
  collection: OpenCollection,
): AsyncIterable<readonly StoredEntity[]> {
  const { forChange } = request;
  const query = queryOf({ request: { ...request, select: undefined }, page }, collection);
  const { timeBudget } = collection;
  return readsOf(collection).reader.entities(query, { timeBudget, page, forChange });
}

/** Reads the named entity for hooks, from the values of the driver. */
export async function storedEntity(
  request: ReadRequest,
  collection: OpenCollection,
): Promise<StoredEntity | null> {
  const { reader } = readsOf(collection);
  const { forChange } = request;
  const whole = { ...request, select: undefined };
  // Hooks see no version that is read besides.
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
  // Shared reads tell documents apart by their identifiers.
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

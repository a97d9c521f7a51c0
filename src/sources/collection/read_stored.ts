import type { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import type { TimeBudget } from "../../store/time_budget.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter, markConditions } from "../../filter/filters.ts";
import { SEEK_READ } from "../../filter/order.ts";
import { projectionOf, withoutApart } from "../../filter/projection.ts";
import { queryOptions, type Selection } from "../../filter/selection.ts";
import { documentsIn, numberIn } from "../../json/bytes/bson_reader.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { asVersion, type Version, versionKeyOf } from "../../schema/fields/system_fields.ts";
import { countInCollection, pageOptions } from "./read_documents.ts";
import { downgradePlan, entityHook, planRead, type ReadPlan } from "./plan_read.ts";
import { isSentBack, unchangedAt } from "../../store/writes/conditions.ts";
import type {
  AskedFields,
  BytesRead,
  EntityName,
  FieldHooks,
  OneRead,
  PageRead,
  ReadRequest,
} from "../source.ts";
import { HookedReads } from "./hooked_reads.ts";
import { type ModelReads, modelSupport } from "./model_support.ts";
import { readStoredPage } from "./read_page.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import type { AddedStatements } from "../../store/writes/transact.ts";
import type { Stamps } from "../../store/values.ts";
import type { StoredEntity, StoredQuery } from "./bson_reads.ts";

export interface OpenCollection {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly selection: Selection;
  /** The condition on the identifier, not cast yet. */
  readonly name?: Filter;
  /** All joined conditions, not cast yet. */
  readonly conditions: Filter;
  readonly timeBudget: TimeBudget;
  readonly maxTimeMS: number;
  /** A parent refers to the entities, so both are written together. */
  readonly linked?: boolean;
  readonly by?: string | undefined;
  readonly stamps?: ((isNew: boolean) => Stamps) | undefined;
  readonly removal?: Update | undefined;
  readonly addedStatements?: AddedStatements | undefined;
}

/** With `isOne`, `skip` and `limit` are ignored, and the version is read for the `ETag`. */
interface StoredRead {
  readonly request: ReadRequest;
  readonly page?: PageRead | undefined;
  readonly isOne?: boolean;
}

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
  { request: { forChange, select, separator, fieldHooks }, page, isOne = false }: StoredRead,
  { model, shape, selection, conditions, maxTimeMS }: OpenCollection,
): StoredQuery {
  const given = forChange ? {} : selection.projection;
  const { lean: _lean, ...read } = queryOptions(selection, { maxTimeMS, page: !isOne });
  const key = isOne ? versionKeyOf(model) : undefined;
  const whole = withoutApart(given, shape);
  const also = key === undefined ? page?.paths ?? [] : [key];
  return {
    conditions: castFilter(model, everyFilter(conditions, page?.afterCursor)),
    options: { ...read, ...page && pageOptions(page) },
    projection: select === undefined ? whole : projectionOf(select),
    also: fieldHooks === undefined ? also : [...also, ...readBy(fieldHooks, { model, shape })],
    separator,
    ...select !== undefined && { whole },
  };
}

function readBy(
  { reads }: FieldHooks,
  { model, shape }: Pick<OpenCollection, "model" | "shape">,
): readonly string[] {
  const needsWhole = modelSupport(model, shape).reads?.reader.named(reads).needsWhole;
  if (!needsWhole) return reads;
  const loaded = [...shape.fields].filter(([, { apart }]) => !apart).map(([name]) => name);
  return [...loaded, ...reads];
}

function readsOf({ model, shape }: OpenCollection): ModelReads {
  const { reads, needsMongoose } = modelSupport(model, shape);
  if (reads !== undefined) return reads;
  throw new TypeError(`Cannot read "${model.modelName}" without Mongoose: ${needsMongoose}`);
}

interface BytesReadOptions {
  readonly collection: OpenCollection;
  readonly nameFilter: (name: EntityName) => Filter | undefined;
}

/** Throws for hooks that this read would not run, because it would show entities that they reject. */
export function makeBytesRead(request: ReadRequest, options: BytesReadOptions): BytesRead {
  const { fieldHooks, hooks } = request;
  if (fieldHooks !== undefined) return readWithHooks(request, { ...options, fieldHooks });
  if (entityHook(hooks) !== undefined) {
    throw new TypeError("Cannot read bytes: nothing runs the hooks of the read");
  }
  const { collection, nameFilter } = options;
  const { reader } = readsOf(collection);
  const { timeBudget } = collection;
  const { finder } = request;
  return {
    kind: "bytes",
    runsHooks: false,
    list() {
      const query = queryOf({ request }, collection);
      return finder === undefined
        ? reader.read(query, timeBudget)
        : reader.readPopulated(query, { finder, timeBudget });
    },
    each: (page) => reader.readEach(queryOf({ request, page }, collection), { finder, timeBudget }),
    page(page, count) {
      const query = queryOf({ request, page }, collection);
      return timeBudget.wait(readStoredPage({ reader, query, page, count, finder }, collection));
    },
    async one(name) {
      const filter = nameFilter(name);
      return filter === undefined ? null : await readOne(request, { ...collection, name: filter });
    },
  };
}

function readWithHooks(
  request: ReadRequest,
  { collection, nameFilter, fieldHooks }: BytesReadOptions & { readonly fieldHooks: FieldHooks },
): BytesRead {
  const { timeBudget } = collection;
  const { reader } = readsOf(collection);
  const reads = new HookedReads({ reader, fieldHooks, finder: request.finder, timeBudget });
  const pageQuery = (page: PageRead) => queryOf({ request, page }, collection);
  return {
    kind: "bytes",
    runsHooks: true,
    list: () => reads.list(queryOf({ request }, collection)),
    async *each(page) {
      if (page === undefined) yield* reads.each(queryOf({ request }, collection));
      else yield await reads.eachOf(page, pageQuery);
    },
    async page(page, count) {
      const total = count && timeBudget.wait(countInCollection(collection, count.limit));
      // If the read fails first, nobody awaits the count, whose rejection could end the process.
      total?.catch(() => {});
      return { ...await reads.page(page, pageQuery), total: await total };
    },
    async one(name) {
      const filter = nameFilter(name);
      if (filter === undefined) return null;
      const query = queryOf({ request, isOne: true }, collection);
      const stored = await findOne(query, { ...collection, name: filter });
      const text = stored && await reads.one(stored, query);
      return text ? { text, version: storedVersion(stored, versionKeyOf(collection.model)) } : null;
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
  if (finder === undefined) return { text: reader.writerFor(query).concat([stored]), version };
  const text = reader.concat([stored], { finder, ...query });
  return { text: await collection.timeBudget.wait(text), version };
}

/** Hooks get all fields that a read shows, whatever the client selects. */
function forEntities(request: ReadRequest): ReadRequest {
  return { ...request, select: undefined, fieldHooks: undefined };
}

export function storedEntities(
  { request, page }: StoredRead,
  collection: OpenCollection,
): AsyncIterable<readonly StoredEntity[]> {
  const { forChange } = request;
  const query = queryOf({ request: forEntities(request), page }, collection);
  const { timeBudget } = collection;
  return readsOf(collection).reader.entities(query, { timeBudget, page, forChange });
}

export async function storedEntity(
  request: ReadRequest,
  collection: OpenCollection,
): Promise<StoredEntity | null> {
  const { reader } = readsOf(collection);
  const { forChange } = request;
  const whole = forEntities(request);
  // The version is not read, because hooks would see it.
  const { also: _also, ...query } = queryOf({ request: whole, isOne: true }, collection);
  const stored = await findOne(forChange ? query : reader.selected(query), collection);
  return stored === undefined ? null : reader.entity(stored, query, forChange);
}

/** `undefined` if only Mongoose can read the model, or if a read value cannot be a condition that matches itself. */
export async function readNamed(
  collection: OpenCollection,
  names: readonly string[],
): Promise<AskedFields | null | undefined> {
  const { model, shape, conditions, maxTimeMS } = collection;
  const { reads } = modelSupport(model, shape);
  if (reads === undefined) return undefined;
  const { reader } = reads;
  const query = {
    conditions: castFilter(model, conditions),
    projection: reader.named(names, true).needsWhole ? {} : projectionOf(names),
    options: { maxTimeMS, readPreference: "primary" },
  };
  const stored = await findOne(query, collection);
  if (stored === undefined) return null;
  const options = { ...SEEK_READ, validation: { utf8: false } };
  const values = mongoose.mongo.BSON.deserialize(stored, options);
  if (!names.every((name) => isSentBack(values[name]))) return undefined;
  return {
    read: (some) => reader.named(some, true).read(stored),
    unchanged: { $and: names.map((name) => markConditions(exactlyAt(name, values))) },
  };
}

/** `$eq` alone would also match an array that contains the value. */
function exactlyAt(name: string, values: Filter): Filter {
  const condition = unchangedAt(name, values);
  const value = values[name];
  if (value === undefined || value === null || Array.isArray(value)) return condition;
  return { [name]: { ...condition[name] as object, $not: { $type: "array" } } };
}

async function findOne(
  query: StoredQuery,
  collection: OpenCollection,
): Promise<Buffer | undefined> {
  const { model, name = {}, timeBudget } = collection;
  const reads = readsOf(collection);
  const named = castFilter(model, name);
  const { _id: shown = true } = query.projection;
  // Requests that share a query find their documents by `_id`, so the result must show it.
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

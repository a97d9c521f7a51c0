import type { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter, isEmpty } from "../../filter/filters.ts";
import { isSameForDatabase, projectionOf, withoutApart } from "../../filter/projection.ts";
import { queryOptions, type Selection } from "../../filter/selection.ts";
import { documentsIn, numberIn } from "../../json/bytes/bson_reader.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { asVersion, type Version, versionKeyOf } from "../../schema/fields/system_fields.ts";
import { pageOptions } from "../collection_reads.ts";
import type { DirectCall, DirectResult } from "../source.ts";
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

interface DirectRead extends Pick<DirectCall, "operation" | "page" | "select" | "separator"> {
  readonly lean?: boolean;
  readonly forChange?: boolean;
}

interface EntityRead extends Pick<DirectCall, "page"> {
  readonly lean: boolean;
  /** Whether the entity is read to be changed, and therefore whole. */
  readonly forChange: boolean;
}

interface ReadPlan {
  readonly reads: DirectReads;
  readonly query: StoredQuery;
}

/** Options that the driver takes as they are; with any other, Mongoose has to run the query. */
const DRIVER_OPTIONS = new Set([
  "skip",
  "limit",
  "sort",
  "maxTimeMS",
  "hint",
  "comment",
  "strictQuery",
  "collation",
  "batchSize",
  "enableUtf8Validation",
  "readPreference",
]);

/** Gives the query of a read without documents; `undefined` if it is not known that Mongoose would give the same. */
export function planRead(
  { operation, lean: takesLean = false, forChange = false, page, select, separator }: DirectRead,
  { model, shape, selection, conditions, maxTimeMS }: OpenCollection,
): ReadPlan | undefined {
  const { reads } = directSupport(model, shape);
  const given = forChange ? {} : selection.projection;
  // A field that a hook projects may be hidden from a client that selects it.
  if (reads === undefined || !isEmpty(given) && select !== undefined) return undefined;
  const projection = select === undefined ? withoutApart(given, shape) : projectionOf(select);
  const { lean, ...read } = queryOptions(selection, { maxTimeMS, page: operation !== "one" });
  const options: Record<string, unknown> = { ...read, ...page && pageOptions(page) };
  const isDirect = (lean === undefined || takesLean) &&
    Object.keys(options).every((name) => DRIVER_OPTIONS.has(name)) &&
    isSameForDatabase(projection, shape);
  if (!isDirect) return undefined;
  const selected = everyFilter(conditions, page?.behind);
  const key = operation === "one" ? versionKeyOf(model) : undefined;
  const also = key === undefined ? page?.paths : [key];
  const query = { conditions: castFilter(model, selected), options, projection, also, separator };
  return { reads, query };
}

/** Plans a read for hooks; `undefined` where Mongoose has to make the documents. */
export function planEntities(
  { operation, lean, forChange, page }: EntityRead & Pick<DirectCall, "operation">,
  collection: OpenCollection,
): ReadPlan | undefined {
  const { shape, selection } = collection;
  const isWhole = lean || forChange;
  // A property that is apart is not read: Mongoose must know that it is not there.
  const leavesOut = forChange && shape.apart.length > 0;
  // Mongoose alone projects documents that are not read whole, and it alone reads in the transaction around a request.
  const isMade = !leavesOut && !mongoose.get("transactionAsyncLocalStorage") &&
    (isWhole || isEmpty(selection.projection));
  return isMade ? planRead({ operation, lean: isWhole, forChange, page }, collection) : undefined;
}

/** Reads the entities of a list for hooks; `undefined` where Mongoose has to do so. */
export function directEntities(
  read: EntityRead,
  collection: OpenCollection,
): AsyncIterable<readonly StoredEntity[]> | undefined {
  const plan = planEntities({ operation: "all", ...read }, collection);
  const { page, forChange } = read;
  const { timeBudget } = collection;
  return plan?.reads.reader.entities(plan.query, { timeBudget, page, forChange });
}

/** Reads one entity for hooks; `null` where there is none, `undefined` where Mongoose has to do so. */
export async function directEntity(
  read: EntityRead,
  collection: OpenCollection,
): Promise<StoredEntity | null | undefined> {
  const plan = planEntities({ operation: "one", ...read }, collection);
  if (plan === undefined) return undefined;
  const { reads, query: { also: _also, ...query } } = plan;
  // Hooks see no version that is read besides.
  const selected = read.forChange ? query : reads.reader.selected(query);
  const stored = await findOne({ reads, query: selected }, collection);
  return stored === undefined ? null : reads.reader.entity(stored, query, read.forChange);
}

/** Answers a list without documents; `undefined` where it is not known that this is possible. */
export async function listDirect(
  call: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | undefined> {
  const plan = planRead(call, collection);
  if (plan === undefined) return undefined;
  const { reads: { reader }, query } = plan;
  const { page, count, finder, givesEach } = call;
  const { timeBudget } = collection;
  if (givesEach) return { each: reader.readEach(query, { finder, timeBudget }) };
  if (page !== undefined) {
    const found = readPage({ reader, query, page, count, finder }, collection);
    return { page: await timeBudget.wait(found) };
  }
  const texts = finder === undefined
    ? reader.read(query, timeBudget)
    : reader.readPopulated(query, { finder, timeBudget });
  return { texts };
}

/** Answers with one entity, without a document; `null` where there is none, `undefined` where it needs one. */
export async function oneDirect(
  call: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | null | undefined> {
  const plan = planRead(call, collection);
  if (plan === undefined) return undefined;
  const { reads: { reader }, query } = plan;
  const stored = await findOne(plan, collection);
  if (stored === undefined) return null;
  const version = storedVersion(stored, query.also?.[0]);
  const { finder } = call;
  if (finder === undefined) return { text: reader.writerFor(query).joined([stored]), version };
  const text = reader.joined([stored], { finder, ...query });
  return { text: await collection.timeBudget.wait(text), version };
}

async function findOne(
  { reads, query }: ReadPlan,
  { model, name = {}, timeBudget }: OpenCollection,
): Promise<Buffer | undefined> {
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

import type { Buffer } from "node:buffer";
import type { Model, mongo } from "mongoose";
import { type Batch, readBatches } from "../../store/read_batches.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { type Filter, isFreeOf, UNCOUNTABLE } from "../../filter/filters.ts";
import { alsoReading, uncovered } from "../../filter/projection.ts";
import { documentsIn } from "../../json/bytes/bson_reader.ts";
import { sharedSession } from "../../schema/mongoose/statements/transaction_around.ts";
import { countInCollection } from "./read_documents.ts";
import { pageEnd } from "../window_end.ts";
import type { CountRead, FoundPage, PageRead, ReadRequest } from "../source.ts";
import type { OpenCollection } from "./read_stored.ts";
import { modelSupport } from "./model_support.ts";
import type { BsonReads, StoredQuery } from "./bson_reads.ts";
import { decodeBson } from "./bson_to_json.ts";

interface ReadPage extends Pick<ReadRequest, "finder"> {
  readonly count?: CountRead | undefined;
  readonly reader: BsonReads;
  readonly query: StoredQuery;
  readonly page: PageRead;
}

export async function readStoredPage(
  read: ReadPage,
  collection: OpenCollection,
): Promise<FoundPage> {
  const { reader, query, finder, page } = read;
  const { all, total } = await readFound(read, collection);
  const shown = all.slice(0, page.limit);
  const more = all.length > page.limit;
  const text = await reader.concat(shown, { finder, ...query });
  const end = more ? pageEnd(shown.at(-1), page) : undefined;
  const next = page.isLoose ? pageEnd(all[page.limit], page) : undefined;
  return { text, size: shown.length, end, next, more, total };
}

interface Found {
  readonly all: readonly Buffer[];
  readonly total?: number;
}

/** A second statement for the count would double the time of the request. */
async function readFound(
  { reader, query, count }: ReadPage,
  collection: OpenCollection,
): Promise<Found> {
  const { model, shape, conditions } = collection;
  if (count === undefined) return { all: await gather(reader.batches(query)) };
  const counted = { limit: count.limit, conditions: castFilter(model, conditions) };
  const { counts } = modelSupport(model, shape);
  const cursor = counts ? countingCursor(model, { ...query, count: counted }) : undefined;
  if (cursor) return takeCount(await gather(readBatches(cursor)));
  const reading = gather(reader.batches(query));
  if (sharedSession() !== undefined) await reading;
  const [all, total] = await Promise.all([reading, countInCollection(collection, count.limit)]);
  return { all, total };
}

async function gather(batches: AsyncIterable<Batch>): Promise<readonly Buffer[]> {
  const found: Buffer[] = [];
  for await (const batch of batches) found.push(...documentsIn(batch));
  return found;
}

/** MongoDB refuses these operators in an aggregation, or accepts them in one place only. */
const NEEDS_FIND: ReadonlySet<string> = new Set([...UNCOUNTABLE, "$text"]);

interface Count {
  /** The conditions are cast, and do not include the cursor. */
  readonly conditions: Filter;
  readonly limit: number | undefined;
}

/**
 * Reads the page and, as the last document, the count. `undefined` if an aggregation could have another result than
 * `find()`.
 */
function countingCursor(
  { collection }: Model<unknown>,
  { conditions, options, also = [], count, ...query }: StoredQuery & { readonly count: Count },
): mongo.AggregationCursor | undefined {
  const projection = alsoReading(query.projection, also);
  const { sort = {}, skip = 0, limit, hint, readPreference, strictQuery: _strict, ...others } =
    options;
  // MongoDB refuses `$unionWith` in a transaction.
  const isSame = sharedSession() === undefined && hint === undefined &&
    readPreference === undefined && typeof limit === "number" &&
    isFreeOf(conditions, NEEDS_FIND) && isDirections(sort) && showsIds(projection);
  if (!isSame) return undefined;
  const pipeline = [
    { $match: conditions },
    ...when(Object.keys(sort).length > 0, { $sort: sort }),
    ...when(Number(skip) > 0, { $skip: skip }),
    { $limit: limit },
    ...when(Object.keys(projection).length > 0, { $project: uncovered(projection) }),
    { $unionWith: { coll: collection.collectionName, pipeline: countStages(count) } },
  ];
  return collection.aggregate(pipeline, others as never) as unknown as mongo.AggregationCursor;
}

/** `$count` returns no document for an empty list. */
function takeCount(all: readonly Buffer[]): Found {
  const last = all.at(-1);
  const decoded: Counted = last === undefined ? {} : decodeBson(last);
  if (decoded._id !== undefined || decoded.total === undefined) return { all, total: 0 };
  return { all: all.slice(0, -1), total: decoded.total };
}

interface Counted {
  readonly _id?: unknown;
  readonly total?: number;
}

function countStages({ conditions, limit }: Count): object[] {
  const most = when(limit !== undefined, { $limit: limit });
  return [{ $match: conditions }, ...most, { $count: "total" }];
}

function when(isDue: boolean, stage: object): object[] {
  return isDue ? [stage] : [];
}

function isDirections(sort: unknown): sort is object {
  return typeof sort === "object" && sort !== null && !(sort instanceof Map) &&
    Object.values(sort).every((direction) => direction === 1 || direction === -1);
}

/** Only the count has no `_id`, so the projection must show `_id`. It must also mean the same in an aggregation. */
function showsIds(projection: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(projection).every(([path, value]) =>
    !path.includes("$") && (value === 1 || value === true || (path !== "_id" && !value))
  );
}

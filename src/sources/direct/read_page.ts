import type { Batch } from "../../database/read_batches.ts";
import { countSelected } from "../collection_reads.ts";
import { pageEnd } from "../page_end.ts";
import type { FoundPage, PageRead } from "../source.ts";
import type { OpenCollection, PlanOf } from "./direct_plan.ts";
import { decodeBson, storedIn } from "./stored_writer.ts";
import type { Stored } from "./stored_writer.ts";
import { directSupport } from "./direct_support.ts";
import type { Model, mongo } from "mongoose";
import { isFreeOf, UNCOUNTABLE } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { alsoReading, uncovered } from "../../filter/projection.ts";
import type { JsonQuery } from "./json_reader.ts";

type PagePlan = PlanOf<"all"> & { readonly page: PageRead };

export function readPage(plan: PagePlan, collection: OpenCollection): Promise<FoundPage> {
  return collection.timeBudget.wait(openPage(plan, collection));
}

async function openPage(
  plan: PagePlan,
  collection: OpenCollection,
): Promise<FoundPage> {
  const { reads: { reader }, query, finder, page } = plan;
  const { found: all, total } = await readFound(plan, collection);
  const shown = all.slice(0, page.limit);
  const more = all.length > page.limit;
  const text = await reader.joined(shown, { finder, ...query });
  const end = more ? pageEnd(shown.at(-1), page) : undefined;
  return { text, size: shown.length, end, more, read: shown.length, total };
}

/** Reads the documents of a page, and counts those of its list, in one statement if that is possible. */
async function readFound(
  { reads: { reader }, query, count }: PagePlan,
  collection: OpenCollection,
): Promise<CountedPage | { readonly found: readonly Stored[]; readonly total?: undefined }> {
  const { model, shape } = collection;
  if (count === undefined) return { found: await gather(reader.batches(query)) };
  const { counts } = directSupport(model, shape);
  const cursor = counts ? openCounted(model, { ...query, count }) : undefined;
  try {
    if (cursor) return takeCount(await gather(reader.batchesOf(cursor)));
  } catch (error) {
    if (!isRefused(model, error)) throw error;
  }
  const [found, total] = await Promise.all([
    gather(reader.batches(query)),
    countSelected(collection, count.limit),
  ]);
  return { found, total };
}

async function gather(batches: AsyncIterable<Batch>): Promise<readonly Stored[]> {
  const found: Stored[] = [];
  for await (const batch of batches) found.push(...storedIn(batch));
  return found;
}

export interface ListCount {
  readonly conditions: Filter;
  readonly limit?: number | undefined;
}

interface CountedPage {
  readonly found: readonly Stored[];
  readonly total: number;
}

/** Options that a statement with two parts obeys in both. */
const OPTIONS = new Set([
  "skip",
  "limit",
  "sort",
  "maxTimeMS",
  "comment",
  "strictQuery",
  "collation",
  "batchSize",
  "enableUtf8Validation",
]);

/** Operators that a pipeline refuses, or takes in one place only. */
const NEEDS_FIND: ReadonlySet<string> = new Set([...UNCOUNTABLE, "$text"]);

/** Errors of servers that do not know a stage: MongoDB, DocumentDB, FerretDB. */
const UNKNOWN_STAGE: ReadonlySet<unknown> = new Set([40324, 304, 238]);

/** Models whose database does not read and count in one statement. */
const refused = new WeakSet<Model<unknown>>();

/** Remembers a database that refuses to read and count in one statement; `false` for any other error. */
function isRefused(model: Model<unknown>, error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (!UNKNOWN_STAGE.has(code)) return false;
  refused.add(model);
  return true;
}

/**
 * Opens a statement that reads a page, followed by the count of its list; `undefined` where two statements could give
 * another page or count. A second statement would cost as much as the rest of the request.
 */
function openCounted(
  model: Model<unknown>,
  query: JsonQuery & { readonly count: ListCount },
): mongo.AggregationCursor | undefined {
  const { conditions, options, count, also = [] } = query;
  const projection = alsoReading(query.projection, also);
  const { sort = {}, skip = 0, limit, strictQuery: _strict, ...others } = options;
  const isSame = !refused.has(model) && typeof limit === "number" &&
    Object.keys(options).every((name) => OPTIONS.has(name)) &&
    isFreeOf(conditions, NEEDS_FIND) && isDirections(sort) && showsIds(projection);
  if (!isSame) return undefined;
  const pipeline = [
    { $match: conditions },
    ...when(Object.keys(sort).length > 0, { $sort: sort }),
    ...when(Number(skip) > 0, { $skip: skip }),
    { $limit: limit },
    ...when(Object.keys(projection).length > 0, { $project: uncovered(projection) }),
    { $unionWith: { coll: model.collection.collectionName, pipeline: countStages(count) } },
  ];
  return model.collection.aggregate(
    pipeline,
    others as never,
  ) as unknown as mongo.AggregationCursor;
}

/** Takes the count from what a statement of {@linkcode openCounted} has found. Nothing was counted where it is missing. */
function takeCount(all: readonly Stored[]): CountedPage {
  const last = all.at(-1);
  const decoded = (last instanceof Uint8Array ? decodeBson(last) : last ?? {}) as Counted;
  if (decoded._id !== undefined || decoded.total === undefined) return { found: all, total: 0 };
  return { found: all.slice(0, -1), total: decoded.total };
}

interface Counted {
  readonly _id?: unknown;
  readonly total?: number;
}

function countStages({ conditions, limit }: ListCount): object[] {
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

/** Whether a projection means the same to a stage, and leaves the identifiers, which tell entities from the count. */
function showsIds(projection: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(projection).every(([path, value]) =>
    !path.includes("$") && (value === 1 || value === true || (path !== "_id" && !value))
  );
}

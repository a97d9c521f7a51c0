import type { Model } from "mongoose";
import { castFilter } from "../filter/cast_filter.ts";
import { isEmpty } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { orderedIndex, scanFrom } from "../filter/parameters/seek_bounds.ts";
import type { ScanOptions } from "../filter/parameters/seek_bounds.ts";
import { isOrderOfValues } from "../filter/parameters/total_order.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { indexBuilds } from "../schema/index_builds.ts";
import { unrecognised } from "../schema/mongoose/recognised.ts";
import { runsNothingOwn } from "../schema/mongoose/schemas/schemas_within.ts";
import type { OpenCollection } from "./direct/direct_plan.ts";
import type { PageRead } from "./source.ts";

/** Options of hooks that leave it to the framework which index a page is read from. */
const HARMLESS = new Set(["sort", "limit", "lean", "maxTimeMS", "comment", "batchSize"]);

/** Errors of databases that do not have the index any more, or do not take bounds: views and time series do not. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  ...[2, 9, 27, 115, 168, 238, 291, 303, 323],
  ...[40415, 51173, 51174],
]);

/** Models on which a `find` runs nothing of the user's: it may be sent twice. */
const repeatable = new WeakMap<Model<unknown>, boolean>();

/** The part of an index that has all entities of a page. */
export interface PageBounds {
  readonly scan: ScanOptions;
  /** Whether the first entity of the part is the one that the page is behind. */
  readonly isForward: boolean;
  /** Tells that the database does not take it. */
  readonly refuse: () => void;
}

/** Has the indexes that a page behind an entity may be read from confirmed by the database. */
export async function confirmIndexes(page: PageRead, model: Model<unknown>): Promise<void> {
  if (page.place !== undefined) await indexBuilds(model)?.plain.confirm();
}

/** Gives the part of an index that a page behind an entity is read from, if nothing but its order binds its list. */
export function boundsOf(
  page: PageRead | undefined,
  { model, selection, conditions }: OpenCollection,
): PageBounds | undefined {
  const indexes = indexBuilds(model)?.plain;
  if (page?.place === undefined || indexes === undefined || indexes.standing.length === 0) return;
  const { order } = page.place;
  const found = indexes.standing.flatMap((index) => orderedIndex(index, order) ?? []);
  const isFree = Object.keys(selection.options).every((name) => HARMLESS.has(name));
  if (found.length === 0 || !isFree || !isRepeatable(model)) return;
  const fixed = isEmpty(conditions) ? NOTHING : valuesOf(castFilter(model, conditions));
  const fit = fixed &&
    found.find(({ lead }) => lead.length === fixed.size && lead.every((path) => fixed.has(path)));
  const scan = fit && scanFrom(fit, { ...page.place, fixed });
  return scan && { scan, isForward: fit.isForward, refuse: () => indexes.forget() };
}

/** Whether an index of the database may have a list in an order, so that pages are read from an entity on. */
export function continuesFrom(
  { model, shape }: Pick<OpenCollection, "model" | "shape">,
  order: unknown,
): boolean {
  const standing = indexBuilds(model)?.plain.standing ?? [];
  return isJsonObject(order) && isOrderOfValues(order, shape) &&
    standing.some((index) => orderedIndex(index, order)?.isForward);
}

const NOTHING: ReadonlyMap<string, unknown> = new Map();

/** Reads within bounds; where the database refuses them, without. */
export async function* readWithin<T>(
  bounds: PageBounds | undefined,
  open: (scan: ScanOptions | Record<never, never>) => AsyncIterable<T>,
): AsyncGenerator<T> {
  let isRefusable = bounds !== undefined;
  try {
    for await (const each of open(bounds?.scan ?? {})) {
      isRefusable = false;
      yield each;
    }
    return;
  } catch (error) {
    if (!isRefusable || !REFUSALS.has((Object(error) as { code?: unknown }).code)) throw error;
  }
  bounds?.refuse();
  yield* open({});
}

function isRepeatable(model: Model<unknown>): boolean {
  const known = repeatable.get(model);
  if (known !== undefined) return known;
  const result = unrecognised(model).length === 0 && runsNothingOwn(model, ["find"]);
  repeatable.set(model, result);
  return result;
}

/** The values that conditions give to fields; `undefined` if they ask for anything else. */
function valuesOf(conditions: Filter): ReadonlyMap<string, unknown> | undefined {
  const values = new Map<string, unknown>();
  for (const [path, value] of flatten(conditions)) {
    if (path.startsWith("$") || values.has(path) || value === null) return undefined;
    values.set(path, value);
  }
  return values;
}

function flatten(conditions: Filter): [string, unknown][] {
  return Object.entries(conditions).flatMap(([key, value]) => {
    if (key === "$and") return (value as Filter[]).flatMap(flatten);
    const isEqual = isJsonObject(value) && Object.keys(value).join() === "$eq";
    return [[key, isEqual ? value.$eq : value]];
  });
}

import type { PipelineStage } from "mongoose";
import type { Filter } from "../../filter/filters.ts";
import { SEEK_READ } from "../../filter/parameters/sort_values.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { BATCH_SIZE } from "../../schema/mongoose/statements/bound_replies.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import { wholeRoots, withFarDates } from "../far_dates.ts";
import type { Place } from "../place/place.ts";
import { intoStages, matchStage } from "../place/place.ts";

export interface ElementSelection {
  readonly link: PartLink;
  /** What must hold of it, cast. */
  readonly match: Filter;
  readonly options: Record<string, unknown>;
}

export interface ElementQuery extends ElementSelection {
  /** The stages that leave what is read of it; none for everything. */
  readonly projected: readonly PipelineStage[];
}

/** Reads what a parent embeds as it is stored, in one aggregation. */
export async function readElements(parent: Place, query: ElementQuery): Promise<StoredObject[]> {
  return await aggregate(parent, { ...query, last: pageStages(query) });
}

/** Reads values of one element as they are stored: no digit of a number gets lost. */
export async function readElementValues(
  parent: Place,
  { paths, options, ...named }: ElementSelection & { readonly paths: readonly string[] },
): Promise<StoredObject | undefined> {
  const exact = { ...options, ...SEEK_READ };
  const read = async (fields: Record<string, unknown>) => {
    const last = [{ $project: fields as PipelineStage.Project["$project"] }];
    const [found] = await aggregate(parent, { ...named, options: exact, last });
    return found;
  };
  const found = await read(wholeRoots(paths));
  return found && await withFarDates(found, { paths, read });
}

/** Counts what a parent embeds, no further than up to a limit. */
export async function countElements(
  parent: Place,
  { limit, ...selection }: ElementSelection & { readonly limit?: number | undefined },
): Promise<number> {
  const most = limit === undefined ? [] : [{ $limit: limit }];
  const [counted] = await aggregate(parent, { ...selection, last: [...most, { $count: "count" }] });
  return Number(counted?.count ?? 0);
}

/** Runs stages over the elements that are selected. */
async function aggregate(
  parent: Place,
  { link: { property, array }, match, options: given, last }: ElementSelection & {
    readonly last: readonly PipelineStage[];
  },
): Promise<StoredObject[]> {
  const { sort: _sort, skip: _skip, limit: _limit, strictQuery: _strict, ...options } = given;
  const stages = [
    ...parent.stages(),
    ...intoStages(property, array),
    ...matchStage(match),
    ...last,
  ];
  // All of them are held: what a page asks for at once does not matter
  const cursor = parent.model.collection.aggregate(stages as never, {
    ...options,
    batchSize: BATCH_SIZE,
  });
  return await parent.timeBudget.wait(cursor.toArray());
}

function pageStages({ projected, options: { sort, skip, limit } }: ElementQuery): PipelineStage[] {
  const stages: PipelineStage[] = [];
  if (sort !== undefined) stages.push({ $sort: sort as never });
  if (typeof skip === "number" && skip > 0) stages.push({ $skip: skip });
  if (typeof limit === "number" && limit > 0) stages.push({ $limit: limit });
  return [...stages, ...projected];
}

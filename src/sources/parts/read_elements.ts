import type { PipelineStage } from "mongoose";
import { isEmpty } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import type { Place } from "../place/place.ts";
import { intoStages } from "../place/steps.ts";

/** What selects elements. */
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

/** Counts what a parent embeds. */
export async function countElements(parent: Place, selection: ElementSelection): Promise<number> {
  const [counted] = await aggregate(parent, { ...selection, last: [{ $count: "count" }] });
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
    ...isEmpty(match) ? [] : [{ $match: match }],
    ...last,
  ];
  const cursor = parent.model.collection.aggregate(stages as never, options);
  return await parent.timeBudget.wait(cursor.toArray());
}

function pageStages({ projected, options: { sort, skip, limit } }: ElementQuery): PipelineStage[] {
  const stages: PipelineStage[] = [];
  if (sort !== undefined) stages.push({ $sort: sort as never });
  if (typeof skip === "number" && skip > 0) stages.push({ $skip: skip });
  if (typeof limit === "number" && limit > 0) stages.push({ $limit: limit });
  return [...stages, ...projected];
}

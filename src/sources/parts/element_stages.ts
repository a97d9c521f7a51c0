import type { PipelineStage } from "mongoose";

/** What of a list of elements is read, and how much of each. */
export interface Page {
  /** The order, as the database takes it; none where it is `undefined`. */
  readonly sort: unknown;
  /** How many are passed over. */
  readonly skip: unknown;
  /** How many there are at most; 0 is no limit. */
  readonly limit: unknown;
  /** The projection; `{}` for everything. */
  readonly projection: Record<string, unknown>;
}

/** The stages of an aggregation that make a page out of a list. */
export function pageStages(page: Page): PipelineStage[] {
  const { sort, skip, limit, projection } = page;
  const stages: PipelineStage[] = [];
  if (sort !== undefined) stages.push({ $sort: sort as never });
  if (typeof skip === "number" && skip > 0) stages.push({ $skip: skip });
  if (typeof limit === "number" && limit > 0) stages.push({ $limit: limit });
  if (Object.keys(projection).length > 0) stages.push({ $project: projection as never });
  return stages;
}

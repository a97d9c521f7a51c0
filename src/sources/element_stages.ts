import type { Model, PipelineStage } from "mongoose";
import { orderOf } from "../selection/read_options.ts";

/** What of a list of elements is read, and how much of each. */
export interface Page {
  /** The order, in any form that the mapper takes. */
  readonly sort: unknown;
  /** How many are passed over. */
  readonly skip: unknown;
  /** How many there are at most; 0 is no limit. */
  readonly limit: unknown;
  /** The projection; `{}` for everything. */
  readonly projection: Record<string, unknown>;
}

/** The stages of an aggregation that make a page out of a list. */
export function pageStages(model: Model<unknown>, page: Page): PipelineStage[] {
  const { sort, skip, limit, projection } = page;
  const order = orderOf(model, sort);
  const stages: PipelineStage[] = [];
  if (Object.keys(order ?? {}).length > 0) stages.push({ $sort: order as never });
  if (typeof skip === "number" && skip > 0) stages.push({ $skip: skip });
  if (typeof limit === "number" && limit > 0) stages.push({ $limit: limit });
  if (Object.keys(projection).length > 0) stages.push({ $project: projection as never });
  return stages;
}

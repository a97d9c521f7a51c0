import type { Model, PipelineStage } from "mongoose";
import { orderOf } from "./read_options.ts";
import type { Shape } from "../shape/shape.ts";
import { unselectedPaths } from "../shape/unselected_paths.ts";

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

/**
 * Gives a projection, in any form that the mapper takes, as an aggregation takes it: what is not selected is left out
 * unless it is asked for by name, or by its name after a `+`.
 */
export function projectionOf(
  model: Model<unknown>,
  given: Record<string, unknown>,
  shape: Shape,
): Record<string, unknown> {
  const entries = Object.entries(model.find().select(given as never).projection() ?? {});
  const forced = entries.flatMap(([path]) => path.startsWith("+") ? [path.slice(1)] : []);
  const named = entries.filter(([path]) => !path.startsWith("+"));
  const picks = named.some(([path, value]) =>
    (path !== "_id" || named.length === 1) && Boolean(value)
  );
  // The mapper's documents take a projection by the letter: who picks fields gets the identifier as well, as in a query.
  const others = picks
    ? ["_id", ...forced].map((path) => [path, 1])
    : unselectedPaths(shape).filter((path) =>
      !forced.includes(path) && !named.some(([other]) => path.startsWith(`${other}.`))
    ).map((path) => [path, 0]);
  return Object.fromEntries([...others, ...named]);
}

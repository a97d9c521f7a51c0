import type { ClientSession, Model } from "mongoose";
import { MAX_TIME_MS, TimeBudget } from "../../database/time_budget.ts";
import { withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import { removeMatching } from "../../write/remove_documents.ts";
import { boundRemoval, type WriteDuties } from "../write_duties.ts";

interface RemoveForGoodOptions {
  readonly filter: Filter;
  readonly limit: number;
  readonly duties: WriteDuties;
}

/**
 * Removes entities that match a filter for good, without a request. The further statements of class options run in the
 * transaction of the removal. An entity that does not match the filter any more at the time of its removal stays.
 *
 * @returns The number of removed entities.
 */
export async function removeForGood(
  model: Model<unknown>,
  { filter, limit, duties }: RemoveForGoodOptions,
): Promise<number> {
  const timeBudget = new TimeBudget(MAX_TIME_MS);
  const { maxTimeMS } = timeBudget.statement();
  const options = { limit, lean: true, readPreference: "primary", maxTimeMS } as const;
  const query = withConditions(model.find({}, { _id: 1 }, options), filter);
  const found = await timeBudget.wait(query.exec()) as { readonly _id: unknown }[];
  const ids = found.map(({ _id }) => _id);
  if (ids.length === 0) return 0;
  const together = boundRemoval(model, { ids, duties, timeBudget });
  return await timeBudget.wait(removeMatching(model, {
    scope: {},
    filter: everyFilter({ _id: { $in: ids } }, filter),
    ids,
    statementOptions: (session?: ClientSession, mostMS?: number) =>
      timeBudget.statement(session, mostMS),
    ...together && { together },
    isRecorded: duties.together !== undefined,
  }));
}

import { BulkError } from "../../errors/bulk_error.ts";
import { isFailure } from "../../errors/failure.ts";
import { isUnavailable } from "../failure_of.ts";
import type { StoredObject } from "../values.ts";
import { insertMany } from "./insert.ts";
import type { WriteContext } from "./transact.ts";

export async function insertEach(
  context: WriteContext,
  all: readonly StoredObject[],
): Promise<ReadonlyMap<number, unknown>> {
  if (context.addedStatements !== undefined) return await insertDivided(context, all);
  try {
    await insertMany(context, all, { isAtomic: false });
    return new Map();
  } catch (error) {
    if (!(error instanceof BulkError)) throw error;
    return error.errors;
  }
}

/** In few transactions and in order, so that the first of two entities with the same unique value is stored. */
async function insertDivided(
  context: WriteContext,
  all: readonly StoredObject[],
): Promise<ReadonlyMap<number, unknown>> {
  const errors = new Map<number, unknown>();
  const waiting = [{ start: 0, end: all.length }];
  for (let some = waiting.pop(); some !== undefined; some = waiting.pop()) {
    const { start, end } = some;
    if (start === end) continue;
    // With one time limit for all transactions, a time-out would not tell which entities are stored.
    context.timeBudget.renew();
    try {
      await context.timeBudget.wait(insertMany(context, all.slice(start, end)));
    } catch (error) {
      if (isUnavailable(error) || isFailure(error, "away")) {
        for (const each of [some, ...waiting]) {
          for (let index = each.start; index < each.end; index++) errors.set(index, error);
        }
        break;
      }
      const [refused] = error instanceof BulkError ? error.errors : [];
      if (refused !== undefined) {
        const [index, cause] = refused;
        errors.set(start + index, cause);
        waiting.push({ start: start + index + 1, end }, { start, end: start + index });
      } else if (end - start === 1) errors.set(start, error);
      else {
        const half = start + Math.ceil((end - start) / 2);
        waiting.push({ start: half, end }, { start, end: half });
      }
    }
  }
  return errors;
}

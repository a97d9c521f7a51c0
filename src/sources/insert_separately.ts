import type { Document } from "mongoose";
import { isUnavailable } from "../database/failure_of.ts";
import { BulkError } from "../errors/bulk_error.ts";
import { isFailure } from "../errors/failure.ts";
import type { TimeBudget } from "../database/time_budget.ts";
import { insertEach, type InsertEachOptions, type Together } from "../write/save_document.ts";

interface DividedOptions extends InsertEachOptions {
  /** Whether class options record the entities, so that each write needs a transaction. */
  readonly isRecorded: boolean;
  readonly bind: (docs: readonly Document[]) => Together;
  readonly timeBudget: TimeBudget;
}

/** Returns the errors of the documents that were not inserted. */
export function insertSeparately(
  docs: readonly Document[],
  { isRecorded, bind, timeBudget, ...options }: DividedOptions,
): Promise<ReadonlyMap<Document, unknown>> {
  if (!isRecorded) return timeBudget.wait(insertEach(docs, options));
  // Each transaction waits by itself, so that a late one does not hide which entities are stored already.
  return insertEach(docs, {
    ...options,
    inTransactions: (kept, insert) =>
      insertDivided(kept, (some) => {
        timeBudget.renew();
        return insert(some, bind(some));
      }),
  });
}

/**
 * Inserts in few transactions and in order, so that the first of two documents with the same unique value is stored. If
 * the database is not available, no further document is sent.
 */
async function insertDivided(
  docs: readonly Document[],
  insert: (docs: readonly Document[]) => Promise<void>,
): Promise<Map<Document, unknown>> {
  const errors = new Map<Document, unknown>();
  const waiting = [docs];
  for (let some = waiting.pop(); some !== undefined; some = waiting.pop()) {
    const [first] = some;
    if (first === undefined) continue;
    try {
      await insert(some);
    } catch (error) {
      if (isUnavailable(error) || isFailure(error, "away")) {
        for (const doc of [some, ...waiting].flat()) errors.set(doc, error);
        break;
      }
      const [refused] = error instanceof BulkError ? error.errors : [];
      if (refused !== undefined) {
        const [index, cause] = refused;
        errors.set(some[index] ?? first, cause);
        waiting.push(some.slice(index + 1), some.slice(0, index));
      } else if (some.length === 1) errors.set(first, error);
      else {
        const half = Math.ceil(some.length / 2);
        waiting.push(some.slice(half), some.slice(0, half));
      }
    }
  }
  return errors;
}

import type { Document } from "mongoose";
import { inTransaction, turnsIn } from "../database/in_transaction.ts";
import type { TimeBudget } from "../database/time_budget.ts";
import type { SaveDocumentOptions } from "../write/save_document.ts";

/** Runs a write together with others; it may be called more than once. */
export type Together = NonNullable<SaveDocumentOptions["together"]>;

/** Runs a write of several documents in a transaction. One needs none, and a hook may have begun its own. */
export function allOrNone(
  [first, ...others]: readonly Document[],
  { timeBudget }: { readonly timeBudget: TimeBudget },
): Together {
  const session = first?.$session() ?? undefined;
  if (first === undefined || others.length === 0 || session?.inTransaction()) {
    return (write) => write(session);
  }
  const transaction = { ...turnsIn(first), timeBudget, isRequired: true };
  return (write) => inTransaction(transaction, write);
}

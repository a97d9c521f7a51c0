import type { mongo, Query } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import type { Filter } from "../../filter/filters.ts";
import { throughQuery } from "../../schema/mongoose/statements/through_query.ts";
import { collationOf, transact, type WriteContext } from "./transact.ts";
import { BEFORE_WRITE } from "./written_entity.ts";

export async function removeOne(
  context: WriteContext,
  { filter, id, options = {} }: {
    readonly filter: Filter;
    readonly id: unknown;
    readonly options?: object;
  },
): Promise<void> {
  const { model, addedStatements } = context;
  const { collection } = model;
  const collation = collationOf(model);
  await transact({ ...context, change: "remove", id }, async (own) => {
    const statement = { ...collation && { collation }, ...options, ...own };
    // The schema may give the options another read preference, which a transaction refuses.
    const reading = { ...statement, ...BEFORE_WRITE, readPreference: "primary" } as const;
    const before = addedStatements && await collection.findOne(filter, reading);
    const { acknowledged, deletedCount } = await collection.deleteOne(filter, statement);
    // With `promoteValues: false`, numbers are objects, and an object for 0 is not equal to 0.
    if (acknowledged && Number(deletedCount) === 0) throw new StoreFailure({ kind: "changed" });
    return before ? { written: [{ id, before }] } : {};
  });
}

export async function removeThrough(
  query: Query<mongo.DeleteResult, unknown>,
  { id, ...context }: WriteContext & { readonly id: unknown },
): Promise<void> {
  await throughQuery(query, {
    method: "deleteOne",
    async send(filter: Filter, options: object) {
      await removeOne(context, { filter, id, options });
      return { acknowledged: true, deletedCount: 1 };
    },
  });
}

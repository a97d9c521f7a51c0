import type { Model, mongo } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import type { StatementOptions } from "../../schema/mongoose/statements/save_by.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import type { StoredObject } from "../values.ts";
import { collationOf, transact, type WriteContext, type WrittenEntities } from "./transact.ts";
import { alwaysRead, BEFORE_WRITE, changedBy, projectionOfWrite } from "./written_entity.ts";

interface Matching {
  readonly filter: Filter;
  readonly collation?: object | undefined;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

interface UpdateMatching extends Matching {
  readonly update: Update;
  readonly arrayFilters?: readonly object[] | undefined;
  readonly change?: WrittenEntities["change"];
}

export async function updateWhere(context: WriteContext, command: UpdateMatching): Promise<number> {
  const { model, addedStatements } = context;
  const { filter, update, arrayFilters, change = "update" } = command;
  let count = 0;
  await transact({ ...context, change }, async (statement) => {
    const options = optionsOf(context, { ...command, statement });
    const all = { ...options, ...arrayFilters && { arrayFilters: [...arrayFilters] } };
    if (addedStatements === undefined) {
      count = (await model.collection.updateMany(filter, update as object, all)).modifiedCount;
      return {};
    }
    const projection = projectionOfWrite([update], alwaysRead(model));
    const found = await readMatching(context, { filter, options, projection });
    count = found.length;
    if (count > 0) await model.collection.updateMany(idsOf(found, filter), update as object, all);
    const written = found.map((before) => {
      return { id: before._id, before, changed: changedBy(update, before) };
    });
    return { written };
  });
  return count;
}

export async function updateUpTo(
  context: WriteContext,
  { most, filter, update }: Pick<UpdateMatching, "filter" | "update"> & { readonly most: number },
): Promise<number> {
  const { collection } = context.model;
  const limit = Number.isFinite(most) ? { limit: most + 1 } : {};
  let count = 0;
  await transact({ ...context, change: "update", isAtomic: true }, async (statement) => {
    const options = optionsOf(context, { filter, statement });
    count = await collection.countDocuments(filter, { ...options, ...limit });
    if (count > most) throw new StoreFailure({ kind: "tooMany", limit: most });
    if (count > 0) await collection.updateMany(filter, update as object, options);
    return {};
  });
  return count;
}

export async function removeWhere(context: WriteContext, command: Matching): Promise<number> {
  const { model: { collection }, addedStatements } = context;
  const { filter } = command;
  // If the parent has no reference to remove, `around` skips the write, and the count stays 0.
  let count = 0;
  await transact({ ...context, change: "remove" }, async (statement) => {
    const options = optionsOf(context, { ...command, statement });
    if (addedStatements === undefined) {
      count = (await collection.deleteMany(filter, options)).deletedCount;
      return {};
    }
    const found = await readMatching(context, { filter, options, projection: {} });
    if (found.length > 0) await collection.deleteMany(idsOf(found, filter), options);
    count = found.length;
    return { written: found.map((before) => ({ id: before._id, before })) };
  });
  return count;
}

/** The read and the write share a transaction, so the write changes exactly the read entities. */
async function readMatching(
  { model }: WriteContext,
  { filter, options, projection }: {
    readonly filter: Filter;
    readonly options: mongo.FindOptions;
    readonly projection: Readonly<Record<string, 1>>;
  },
): Promise<StoredObject[]> {
  return await model.collection.find(filter, { ...options, ...BEFORE_WRITE, projection }).toArray();
}

function idsOf(found: readonly StoredObject[], filter: Filter): Filter {
  return everyFilter({ _id: { $in: found.map(({ _id }) => _id) } }, filter);
}

function optionsOf(
  { model }: { readonly model: Model<unknown> },
  { collation, options = {}, statement }: Matching & { readonly statement: StatementOptions },
): mongo.DeleteOptions {
  const { hint, comment, maxTimeMS } = options;
  const compared = collation ?? options.collation ?? collationOf(model);
  return {
    ...statement,
    maxTimeMS: Math.min(Number(maxTimeMS) || statement.maxTimeMS, statement.maxTimeMS),
    ...Object.fromEntries(
      Object.entries({ hint, comment, collation: compared })
        .filter(([, value]) => value !== undefined && value !== null),
    ),
  };
}

import type { Model, mongo } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import type { StatementOptions } from "../../schema/mongoose/statements/save_by.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import type { StoredObject } from "../values.ts";
import { type Place, transact, type WrittenEntities } from "./transact.ts";
import { alwaysRead, BEFORE_WRITE, changedBy, projectionOfWrite } from "./written_entity.ts";

export interface Matching {
  readonly filter: Filter;
  readonly collation?: object | undefined;
  /** Set by hooks. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

interface UpdateMatching extends Matching {
  readonly update: Update;
  readonly arrayFilters?: readonly object[] | undefined;
  readonly change?: WrittenEntities["change"];
  /** More entities are refused. */
  readonly most?: number;
}

export async function updateWhere(place: Place, command: UpdateMatching): Promise<number> {
  const { model: { collection }, rule } = place;
  const { filter, update, arrayFilters, change = "update", most } = command;
  const isAtomic = most !== undefined;
  let count = 0;
  await transact({ ...place, change, isAtomic }, async (statement) => {
    const options = optionsOf(place, { ...command, statement });
    if (most !== undefined) {
      const limit = Number.isFinite(most) ? { limit: most + 1 } : {};
      count = await collection.countDocuments(filter, { ...options, ...limit });
      if (count > most) throw new StoreFailure({ kind: "tooMany", limit: most });
      if (count > 0) await collection.updateMany(filter, update as object, options);
      return {};
    }
    const all = { ...options, ...arrayFilters && { arrayFilters: [...arrayFilters] } };
    if (rule === undefined) {
      count = (await collection.updateMany(filter, update as object, all)).modifiedCount;
      return {};
    }
    const projection = projectionOfWrite([update], alwaysRead(place.model));
    const found = await readMatching(place, { filter, options, projection });
    if (found.length > 0) await collection.updateMany(idsOf(found, filter), update as object, all);
    count = found.length;
    const written = found.map((before) => {
      return { id: before._id, before, changed: changedBy(update, before) };
    });
    return { written };
  });
  return count;
}

export async function removeWhere(place: Place, command: Matching): Promise<number> {
  const { model: { collection }, rule } = place;
  const { filter } = command;
  // A write of the parent may end without this one.
  let count = 0;
  await transact({ ...place, change: "remove" }, async (statement) => {
    const options = optionsOf(place, { ...command, statement });
    if (rule === undefined) {
      count = (await collection.deleteMany(filter, options)).deletedCount;
      return {};
    }
    const found = await readMatching(place, { filter, options, projection: {} });
    if (found.length > 0) await collection.deleteMany(idsOf(found, filter), options);
    count = found.length;
    return { written: found.map((before) => ({ id: before._id, before })) };
  });
  return count;
}

/** In the transaction of the write, which therefore changes the same entities. */
async function readMatching(
  { model }: Place,
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
  const compared = collation ?? options.collation ?? model.schema.get("collation" as never);
  return {
    ...statement,
    maxTimeMS: Math.min(Number(maxTimeMS) || statement.maxTimeMS, statement.maxTimeMS),
    ...Object.fromEntries(
      Object.entries({ hint, comment, collation: compared })
        .filter(([, value]) => value !== undefined && value !== null),
    ),
  };
}

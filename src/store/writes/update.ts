import type { Model, mongo, Query } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { everyFilter, type Filter, isEmpty } from "../../filter/filters.ts";
import { sendUpdates, type UpdateStatement } from "../../schema/mongoose/statements/commands.ts";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { throughQuery } from "../../schema/mongoose/statements/through_query.ts";
import { setFields, type StoredObject, storedText } from "../values.ts";
import { appliedFields } from "./applied_fields.ts";
import { type Sent, transact, type WriteContext } from "./transact.ts";
import {
  alwaysRead,
  BEFORE_WRITE,
  changedBy,
  projectionOfWrite,
  updatedFields,
} from "./written_entity.ts";

type Projection = Readonly<Record<string, unknown>>;

export interface UpdateCommand {
  readonly filter: Filter;
  /** A replacement is a list of aggregation stages, and has no added statements. */
  readonly update: Update | readonly object[];
  readonly id: unknown;
  /** A removal may be sent as an update. */
  readonly change?: "update" | "remove";
  readonly projection?: Projection | undefined;
  readonly options?: mongo.FindOneAndUpdateOptions;
}

interface Updated extends Sent {
  readonly isMet: boolean;
  /** With a write concern of 0, the database returns no values. */
  readonly after?: StoredObject;
}

export async function updateOne(context: WriteContext, command: UpdateCommand): Promise<Updated> {
  const { change = "update", id, options } = command;
  const { model, addedStatements } = context;
  const send = addedStatements === undefined ? updateAlone : updateRecorded;
  return await transact(
    { ...context, change, id },
    (statement) => send(model, { ...command, options: { ...options, ...statement } }),
  );
}

/** Middleware runs once, even if a repeated transaction sends the statement again. */
export async function updateThrough(
  query: Query<mongo.UpdateResult, unknown>,
  { id, projection, ...context }: WriteContext & Pick<UpdateCommand, "id" | "projection">,
): Promise<Updated> {
  let updated: Updated = { isMet: false };
  await throughQuery(query, {
    method: "updateOne",
    async send(filter: Filter, update: Update, options: object) {
      updated = await updateOne(context, { filter, update, id, projection, options });
      const matchedCount = updated.isMet ? 1 : 0;
      const counts = { matchedCount, modifiedCount: matchedCount, upsertedCount: 0 };
      return { acknowledged: true, upsertedId: null, ...counts };
    },
  });
  return updated;
}

interface Statement extends UpdateCommand {
  readonly options: mongo.FindOneAndUpdateOptions;
}

async function updateAlone(
  { collection, db }: Model<unknown>,
  { filter, update, projection, options }: Statement,
): Promise<Updated> {
  const isAcknowledged = (options.writeConcern ?? db.db?.writeConcern)?.w !== 0;
  if (projection === undefined) {
    const { matchedCount } = await collection.updateOne(filter, update as object, options);
    return { isMet: Number(matchedCount) > 0 || !isAcknowledged };
  }
  const after = await collection.findOneAndUpdate(filter, update as object, {
    ...options,
    ...projected(projection),
    returnDocument: "after",
    enableUtf8Validation: false,
    // `raw: true` of the connection would return bytes, also of errors.
    raw: false,
  });
  return after === null ? { isMet: !isAcknowledged } : { isMet: true, after };
}

function projected(projection: Projection): { readonly projection?: Projection } {
  return isEmpty(projection) ? {} : { projection };
}

/** Added statements need the values before the update. The new values are computed from them, without another read. */
async function updateRecorded(
  model: Model<unknown>,
  { filter, update: given, projection = {}, options }: Statement,
): Promise<Updated> {
  const update = given as Update;
  const written = updatedFields(update);
  const isWhole = Object.values(projection).every((each) => each === 0);
  const shown = isWhole
    ? Object.entries(projection).filter(([name]) => !written.includes(name))
    : Object.entries(projectionOfWrite([update], alwaysRead(model)));
  const before = await model.collection.findOneAndUpdate(filter, update as object, {
    ...options,
    ...projected(Object.fromEntries(shown)),
    ...BEFORE_WRITE,
    returnDocument: "before",
  });
  if (before === null) return { isMet: false };
  const after = setFields({ ...before }, appliedFields(before, update));
  return {
    isMet: true,
    after,
    written: [{ id: before._id, before, changed: changedBy(update, before) }],
  };
}

export function versionOf(model: Model<unknown>): Projection {
  return { [versionKeyOf(model) ?? "_id"]: 1 };
}

interface NamedUpdate extends UpdateStatement {
  readonly id: unknown;
}

interface BoundUpdates {
  readonly updates: readonly NamedUpdate[];
  /** The scope may contain the shard key, so that the read asks only one shard. */
  readonly scope: Filter;
}

export async function updateEach(
  context: WriteContext,
  { updates, scope }: BoundUpdates,
): Promise<void> {
  const { model, addedStatements } = context;
  await transact({ ...context, change: "update", isAtomic: true }, async (options) => {
    const before = addedStatements && await readBefore(model, { updates, scope, options });
    const statements = updates.map(({ q, u }) => ({ q, u }));
    const met = await sendUpdates(model as never, statements, options);
    if (met < updates.length) throw new StoreFailure({ kind: "changed" });
    if (before === undefined) return {};
    const written = updates.map(({ id, u }) => {
      const stored = before.get(storedText(id)) ?? {};
      return { id, before: stored, changed: changedBy(u, stored) };
    });
    return { written };
  });
}

async function readBefore(
  model: Model<unknown>,
  { updates, scope, options }: BoundUpdates & { readonly options: mongo.FindOptions },
): Promise<ReadonlyMap<string, StoredObject>> {
  const projection = projectionOfWrite(updates.map(({ u }) => u), alwaysRead(model));
  const named = everyFilter({ _id: { $in: updates.map(({ id }) => id) } }, scope);
  const found = await model.collection.find(named, { ...options, ...BEFORE_WRITE, projection })
    .toArray();
  return new Map(found.map((each) => [storedText(each._id), each]));
}

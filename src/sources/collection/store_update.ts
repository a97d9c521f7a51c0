import mongoose from "mongoose";
import type { ClientSession, Model } from "mongoose";
import { inTransaction, turnsIn } from "../../database/in_transaction.ts";
import { type LockOptions, writePastLock } from "../../database/write_past_lock.ts";
import { isEmpty } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { toJson } from "../../json/to_json.ts";
import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { storedText } from "../../write/stored_values.ts";
import { BEFORE_WRITE, changedBy } from "../../write/written_entity.ts";
import type { Unsent, WriteResult } from "../source.ts";
import {
  operatorsFor,
  type Stamps,
  stampsFor,
  type WriteDuties,
  type WrittenEntities,
} from "../write_duties.ts";
import { timeStamps } from "./entity_maker.ts";
import { modelSupport } from "./model_support.ts";
import type { OpenCollection } from "./read_stored.ts";

type Values = Record<string, unknown>;

export function stampingUpdate(values: Stamps, model: Model<unknown>): Update {
  const { set, unset } = operatorsFor(values);
  const all = { ...set, ...timeStamps(model, "updatedAt") };
  const key = versionKeyOf(model);
  return {
    ...!isEmpty(all) && { $set: all },
    ...!isEmpty(unset) && { $unset: unset },
    ...key !== undefined && { $inc: { [key]: 1 } },
  };
}

/** The update that is sent in the place of a removal. `undefined` if the entity is removed for good. */
export function removalOf(
  duties: WriteDuties | undefined,
  model: Model<unknown>,
): Update | undefined {
  const values = duties?.removal?.();
  return values && stampingUpdate({ ...stampsFor(duties, model)?.(false), ...values }, model);
}

interface Statement extends Partial<Pick<WrittenEntities, "change">> {
  /** The conditions are cast already. */
  readonly named: Filter;
  readonly update: object;
  readonly upsert?: boolean;
  readonly minimal: boolean | undefined;
}

/** "missed" if no entity matches, and "refused" if Mongoose documents must repeat the write. */
export async function store(
  { named, update, upsert = false, minimal = false, change = "update" }: Statement,
  collection: OpenCollection,
): Promise<WriteResult | Unsent> {
  const { model, shape, timeBudget, together } = collection;
  const key = keyOf(model);
  const projection = minimal && together === undefined ? { [key]: 1 } : shape.withoutApart;
  // The connection may have `raw: true`. The driver would then return error replies as bytes, and would not notice that
  // another server has become the primary.
  const send = (session?: ClientSession, mostMS?: number) =>
    model.collection.findOneAndUpdate(named, update, {
      ...timeBudget.statement(session, mostMS),
      ...!isEmpty(projection) && { projection },
      upsert,
      returnDocument: together === undefined ? "after" : "before",
      ...together === undefined ? { enableUtf8Validation: false, raw: false } : BEFORE_WRITE,
    });
  const sent = together === undefined
    ? writePastLock(lockOf(collection), send)
    : storeTogether(collection, { send, update: update as Update, change });
  const stored = await timeBudget.wait(sent).catch(orRefused);
  if (stored === "refused") return stored;
  if (stored === null) return "missed";
  const version = asVersion(stored[key]);
  const told = { version, ...version === 0 && { created: String(stored._id) } };
  if (minimal) return told;
  const { reads } = modelSupport(model, shape);
  const text = reads?.reader.writerFor({ projection: {} }).text(stored);
  return { text: text ?? toJson(model.hydrate(stored), shape), ...told };
}

/** `null` if no entity has matched. */
async function storeTogether(
  { model, together, timeBudget, ...collection }: OpenCollection,
  { send, update, change }: {
    /** Returns the stored values before the update. */
    readonly send: (session?: ClientSession) => Promise<Values | null>;
    readonly update: Update;
    readonly change: WrittenEntities["change"];
  },
): Promise<Values | null> {
  const { connection, name } = lockOf({ model, timeBudget, ...collection });
  const transaction = { connection, turn: name(), timeBudget, isRequired: true };
  let before: Values | null = null;
  await inTransaction(transaction, async (session) => {
    before = await send(session);
    if (before === null) return;
    const { _id: id } = before;
    const entities = [{ id, before, changed: changedBy(update, before) }];
    await together?.({ change, entities, model }, session as ClientSession);
  });
  return before && updated(before, update);
}

/** Computes the updated entity, so that the answer needs no second read. */
function updated(before: Values, { $set = {}, $unset = {}, $inc = {} }: Update): Values {
  const { BSON } = mongoose.mongo;
  const counted = Object.entries($inc).map(([name, by]) =>
    [name, Number(before[name] ?? 0) + Number(by)] as const
  );
  const written: Values = {
    ...BSON.deserialize(BSON.serialize($set)),
    ...Object.fromEntries(counted),
  };
  const after = { ...before };
  // MongoDB adds the new fields of an update in the order of their names, so the answer shows the stored order.
  for (const name of Object.keys(written).sort()) after[name] = written[name];
  for (const name of Object.keys($unset)) delete after[name];
  return after;
}

/**
 * While another transaction has locked the entity, writes of it take turns, so that only one of them occupies a
 * connection.
 */
export function lockOf(
  { model, name, timeBudget }: OpenCollection,
  { _id }: Values = {},
): LockOptions {
  const { connection, turn } = turnsIn(model);
  return { connection, name: () => `${turn}/${storedText(_id ?? name)}`, timeBudget };
}

function keyOf({ schema }: Model<unknown>): string {
  return String(schema.get("versionKey"));
}

/**
 * The error codes for a version that is not a number, a value that breaks a rule of the collection, and a duplicate of
 * a unique value. Mongoose documents repeat the write, because their errors name the field with the wrong value.
 */
const REFUSALS = new Set<unknown>([2, 14, 121, 11000, 16554]);

export function orRefused(error: unknown): "refused" {
  if (error instanceof mongoose.mongo.MongoServerError && REFUSALS.has(error.code)) {
    return "refused";
  }
  throw error;
}

import mongoose from "mongoose";
import type { Connection, Model, mongo } from "mongoose";
import { isGroup } from "../errors/option_kinds.ts";
import type { Filter } from "../filter/filters.ts";
import { asVersion, versionKeyOf } from "../schema/fields/system_fields.ts";
import { isStorable, lossOf } from "../schema/mongoose/bson.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { stampingUpdate } from "../sources/collection/store_update.ts";
import type { Lease } from "../store/lease.ts";
import { MAX_TIME_MS, TimeBudget } from "../store/time_budget.ts";
import { AS_STORED, type StoredObject, storedText, valueAt } from "../store/values.ts";
import { isSentBack, unchangedSince } from "../store/writes/conditions.ts";
import type { AddedStatements, Around } from "../store/writes/transact.ts";
import { updateOne } from "../store/writes/update.ts";

const { BSON } = mongoose.mongo;

const MOST_TRIES = 20;

/**
 * An update contains the new values, and the stored ones to detect other changes. For a larger entity, it could exceed
 * 16 MB.
 */
const LARGE_BYTES = 6 * 1024 * 1024;

/** Otherwise, a failover could undo changes that the stored progress counts as done. */
const MAJORITY = { writeConcern: { w: "majority" } } as const;

export type ChangeFunction = (stored: unknown) => unknown;

export interface ChangeWriterOptions {
  readonly model: Model<unknown>;
  readonly filter: Filter;
  readonly change: ChangeFunction;
  readonly addedStatements: AddedStatements | undefined;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

export class ChangeWriter {
  readonly filter: Filter;
  readonly #options: ChangeWriterOptions;
  readonly #key: string | undefined;

  constructor(options: ChangeWriterOptions) {
    this.filter = options.filter;
    this.#options = options;
    this.#key = versionKeyOf(options.model);
  }

  /**
   * Returns whether the entity was written. MongoDB compares the stored entity with `read`, so the values must have
   * their BSON types.
   */
  async change(read: StoredObject): Promise<boolean> {
    const { change, lease, signal } = this.#options;
    let stored: StoredObject | null = read;
    for (let tries = 0; stored !== null; tries++) {
      if (tries === MOST_TRIES) throw this.#fail(read, "other writes change it all the time");
      signal.throwIfAborted();
      const values = valuesOf(stored);
      const returned = await change(values);
      const update = this.#updateOf(returned, stored);
      if (update === undefined) {
        const isLost = (returned ?? undefined) === undefined &&
          storedText(values) !== storedText(stored);
        if (isLost) {
          throw this.#fail(read, "the change has changed its argument, and returned none");
        }
        return false;
      }
      // The timer that aborts the signal of the lease can be late, so this checks the clock.
      if (!lease.isHeld) throw new Error("The lease is lost");
      if (await this.#write(stored, update)) return true;
      stored = await this.#readAgain(stored);
    }
    return false;
  }

  #fail({ _id }: StoredObject, problem: string): TypeError {
    const { modelName } = this.#options.model;
    return new TypeError(`Cannot change "${modelName}" ${String(_id)}: ${problem}`);
  }

  #updateOf(returned: unknown, stored: StoredObject): Update | undefined {
    if (returned === undefined || returned === null) return undefined;
    if (!isGroup(returned)) throw this.#fail(stored, "the change returned no object of fields");
    const changes = Object.entries(returned).filter(([path, value]) => {
      if (path === "" || path.startsWith("$") || path === "_id" || path === this.#key) {
        throw this.#fail(stored, `the change returned "${path}", which is no field to store`);
      }
      const before = valueAt(stored, path);
      if (value === undefined) return before !== undefined;
      const loss = lossIn(path, value);
      if (loss !== undefined) throw this.#fail(stored, `the new ${loss}`);
      return before === undefined || storedText(before) !== storedText(value);
    });
    if (changes.length === 0) return undefined;
    const update = stampingUpdate(Object.fromEntries(changes), this.#options.model);
    const key = this.#key;
    if (key === undefined || !Object.hasOwn(stored, key)) return update;
    if (asVersion(stored[key]) !== null) return update;
    // `$inc` would fail at a stored version that is no number, so the version becomes 1.
    const { $inc: _counted, $set, ...others } = update;
    return { ...others, $set: { ...$set, [key]: 1 } };
  }

  async #write(stored: StoredObject, update: Update): Promise<boolean> {
    const { model, addedStatements } = this.#options;
    const timeBudget = new TimeBudget(MAX_TIME_MS);
    const isRecorded = addedStatements !== undefined;
    const around: Around = isRecorded
      ? (write) => transactionOn(model.db as Connection, write)
      : async (write) => void await write();
    const context = { model, timeBudget, addedStatements, around };
    const sent = updateOne(context, {
      filter: { _id: { $eq: stored._id }, $and: [this.#unchanged(stored)] },
      update,
      id: stored._id,
      options: { ...isRecorded ? {} : MAJORITY, ignoreUndefined: true },
    });
    return (await timeBudget.wait(sent)).isMet;
  }

  /**
   * The filter matches only an unchanged entity. The version replaces fields that are too large, or that a statement
   * cannot compare.
   */
  #unchanged(stored: StoredObject): Filter {
    const key = this.#key;
    const isLarge = BSON.calculateObjectSize(stored) > LARGE_BYTES;
    if (!isLarge && isSentBack(stored)) return unchangedSince(stored, { fields: undefined, key });
    let restBytes = LARGE_BYTES;
    const fields = Object.entries(stored).flatMap(([name, value]) => {
      const bytes = BSON.calculateObjectSize({ value });
      if (/^$|^\$|\./.test(name) || !isSentBack(value) || bytes > restBytes) return [];
      restBytes -= bytes;
      return [name];
    });
    if (key !== undefined) fields.push(key);
    return unchangedSince(stored, { fields, key: undefined });
  }

  async #readAgain({ _id }: StoredObject): Promise<StoredObject | null> {
    const { model: { collection }, signal } = this.#options;
    const filter = { $and: [{ _id: { $eq: _id } }, this.filter] };
    return await collection.findOne(filter as mongo.Filter<StoredObject>, {
      ...AS_STORED,
      signal,
      readPreference: "primary",
    });
  }
}

/** BSON would store objects of other kinds, such as a `Set`, as empty objects. */
const STORED_KINDS: ReadonlySet<string> = new Set(["Array", "Map", "Object"]);

/** Returns the path and the kind of a value that BSON would change. */
function lossIn(path: string, value: unknown): string | undefined {
  const loss = lossOf(value);
  if (loss !== undefined) return `"${path}" is ${loss}`;
  if (typeof value !== "object" || value === null || isStorable(value)) return undefined;
  if (typeof (value as { readonly toBSON?: unknown }).toBSON === "function") return undefined;
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (!STORED_KINDS.has(kind)) return `"${path}" is a ${kind}, which BSON does not have`;
  const members = value instanceof Map ? value.entries() : Object.entries(value);
  for (const [name, each] of members) {
    const inner = each === undefined && kind !== "Array"
      ? undefined
      : lossIn(`${path}.${name}`, each);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function valuesOf(stored: StoredObject): StoredObject {
  return BSON.deserialize(BSON.serialize(stored), { validation: { utf8: false } });
}

async function transactionOn(
  connection: Connection,
  write: Parameters<Around>[0],
): Promise<void> {
  const options = { ...MAJORITY, readPreference: "primary" } as const;
  await connection.transaction(async (session) => void await write(session), options);
}

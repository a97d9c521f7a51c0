import { setTimeout } from "node:timers";
import mongoose from "mongoose";
import type { ClientSession, Collection, Connection } from "mongoose";
import { conflict } from "../errors/refusals.ts";
import { logHint } from "../errors/log.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import type { WriteOptions } from "../schema/mongoose/statements/save_by.ts";
import type { TransactionKey } from "./in_transaction.ts";
import { TimeBudget } from "./time_budget.ts";
import { writePastLock } from "./write_past_lock.ts";

/** The collection with the keys of clients, in the database of the entities that are created with them. */
const COLLECTION = "mongrove_keys";

/**
 * How long a request may take from the note that its transaction begins until the transaction has locked the record. Later, a
 * record without a lock says that the transaction was not committed.
 */
const BEGUN_MS = 5000;

const RELEASE_MS = 2000;

/** How often a claim meets another one that is written at the same time. */
const MAX_ATTEMPTS = 5;

/** The pause before the index is built for the second time; it doubles from try to try. */
const FIRST_PAUSE_MS = 1000;

const LONGEST_PAUSE_MS = 60_000;

interface KeyUse {
  /** The hash of what the key belongs to, and of the key. */
  readonly name: string;
  readonly body: string;
  /** The identifiers that its entities get, if the key is new. */
  readonly ids: readonly unknown[];
  readonly keepMS: number;
  /** The time after which another request may go on with what this one has begun. */
  readonly lostMS: number;
}

interface StoredKey {
  readonly body: string;
  readonly ids: readonly unknown[];
  readonly holder: object;
  readonly isDone?: boolean;
  readonly age: unknown;
}

/** The record of a key. Only one request at a time holds it, and may create entities with its identifiers. */
export class KeyRecord implements TransactionKey {
  readonly #keys: Collection;
  readonly #filter: object;
  readonly #timeBudget: TimeBudget;
  ids: readonly unknown[];
  #taken = 0;
  isFinished = false;
  /** Whether another request has gone on with the key. */
  isLost = false;

  private constructor(
    readonly state: "new" | "resumed" | "done" | "busy" | "misused",
    readonly ageMS: number,
    { keys, filter, ids, timeBudget }: {
      readonly keys: Collection;
      readonly filter: object;
      readonly ids: readonly unknown[];
      readonly timeBudget: TimeBudget;
    },
  ) {
    this.#keys = keys;
    this.#filter = filter;
    this.#timeBudget = timeBudget;
    this.ids = ids;
  }

  /** Claims a key, or tells who has used it. One statement does both, by the time of the database. */
  static async claim(
    connection: Connection,
    { name, ...use }: KeyUse & { readonly timeBudget: TimeBudget },
  ): Promise<KeyRecord> {
    const { timeBudget } = use;
    const keys = connection.collection(COLLECTION);
    void buildIndex(connection, keys);
    const holder = new mongoose.Types.ObjectId();
    const update = claimedBy(holder, use);
    const lock = { connection, name: () => `${COLLECTION}/${name}`, timeBudget };
    const claim = (session?: ClientSession, mostMS?: number) =>
      upsert(keys, { name, update, options: timeBudget.statement(session, mostMS) });
    const found = await timeBudget.wait(writePastLock(lock, claim));
    const isHeld = String(found.holder) === String(holder);
    const isNew = isHeld && String(found.ids) === String(use.ids);
    const state = isHeld
      ? isNew ? "new" : "resumed"
      : found.body !== use.body
      ? "misused"
      : found.isDone
      ? "done"
      : "busy";
    const filter = { _id: name, holder: found.holder };
    return new KeyRecord(state, Number(found.age), { keys, filter, ids: found.ids, timeBudget });
  }

  takeId(): unknown {
    return this.ids[this.#taken++];
  }

  /** Keeps the identifiers that hooks have given to entities; a 409 if another request has gone on with the key. */
  async keep(entities: readonly object[]): Promise<void> {
    if (entities.some((each) => isDocument(each) && !each.isNew)) {
      throw new TypeError("Cannot create once for a key: the fetch hook gave a stored entity");
    }
    const ids = idsOf(entities);
    if (String(ids) === String(this.ids)) return;
    if (!await this.#update({ $set: { ids } })) throw conflict();
    this.ids = ids;
  }

  /** Notes that a transaction begins. Once it has ended without a commit, another request may go on with the key. */
  async begin(): Promise<void> {
    await this.#hold([{ $set: { begun: "$$NOW" } }]);
  }

  /** Writes the record in the transaction that creates the entities. Its lock shows other requests that the transaction is open. */
  async finishIn(session: ClientSession): Promise<void> {
    await this.#hold({ $set: { isDone: true, ids: this.ids } }, session);
  }

  async #hold(changes: object, session?: ClientSession): Promise<void> {
    if (await this.#update(changes, session)) return;
    this.isLost = true;
    throw conflict();
  }

  commit(): void {
    this.isFinished = true;
  }

  /** Notes what is created. Without the note, a repetition finds it when this request counts as lost. */
  async finish(entities: readonly object[] = []): Promise<void> {
    const ids = entities.length > 0 ? idsOf(entities) : this.ids;
    if (this.isFinished && String(ids) === String(this.ids)) return;
    this.isFinished = true;
    this.ids = ids;
    await this.#update({ $set: { isDone: true, ids } }).catch(() => {});
  }

  /** Lets a repetition go on at once, with the same identifiers: this request will not write any more. */
  async release(): Promise<void> {
    // The time of the request may be up.
    const timeBudget = new TimeBudget(RELEASE_MS);
    const update = { $set: { at: new Date(0) } };
    const release = this.#keys.updateOne(this.#filter, update, timeBudget.statement());
    await timeBudget.wait(release).catch(() => {});
  }

  /** Forgets the key, with which nothing was created. Without that, it is free when this request counts as lost. */
  async free(): Promise<void> {
    const removal = this.#keys.deleteOne(this.#filter, this.#timeBudget.statement());
    await this.#timeBudget.wait(removal).catch(() => {});
  }

  async #update(changes: object, session?: ClientSession): Promise<boolean> {
    const options = this.#timeBudget.statement(session);
    const update = this.#keys.updateOne(this.#filter, changes, options);
    return Number((await this.#timeBudget.wait(update)).matchedCount) > 0;
  }
}

function idsOf(entities: readonly object[]): unknown[] {
  return entities.map((entity) => (entity as { _id?: unknown })._id);
}

/** The update that claims a key which is new, has expired, or is held by a lost request with the same body. */
function claimedBy(
  holder: object,
  { body, ids, keepMS, lostMS }: Omit<KeyUse, "name">,
): object[] {
  const isFree = { $lte: ["$expires", "$$NOW"] };
  const isLost = {
    $and: [
      { $eq: ["$body", { $literal: body }] },
      { $ne: ["$isDone", true] },
      { $or: [isBefore("$at", lostMS), isBefore("$begun", BEGUN_MS)] },
    ],
  };
  const claim = { holder, at: "$$NOW", begun: null };
  const expires = { $add: ["$$NOW", Math.max(keepMS, lostMS)] };
  const first = {
    ...claim,
    _id: "$_id",
    body: { $literal: body },
    ids: { $literal: ids },
    expires,
  };
  const branches = [
    { case: isFree, then: first },
    { case: isLost, then: { $mergeObjects: ["$$ROOT", claim] } },
  ];
  return [{ $replaceWith: { $switch: { branches, default: "$$ROOT" } } }];
}

/** Whether a time is there, and was so long ago. */
function isBefore(time: string, milliseconds: number): object {
  const then = { $subtract: ["$$NOW", milliseconds] };
  return { $and: [{ $gt: [time, null] }, { $lte: [time, then] }] };
}

const SHOWN = { body: 1, ids: 1, holder: 1, isDone: 1, age: { $subtract: ["$$NOW", "$at"] } };

async function upsert(
  keys: Collection,
  { name, update, options }: {
    readonly name: string;
    readonly update: object[];
    readonly options: WriteOptions;
  },
): Promise<StoredKey> {
  for (let tries = 1;; tries++) {
    try {
      const given = { upsert: true, projection: SHOWN, returnDocument: "after" } as const;
      const filter = { _id: name } as object;
      return await keys.findOneAndUpdate(filter, update as never, {
        ...options,
        ...given,
      }) as unknown as StoredKey;
    } catch (error) {
      // Of two that insert a key at once, the database refuses one. That ends a transaction.
      const isMet = Object(error).code === 11000 && options.session === undefined;
      if (!isMet || tries === MAX_ATTEMPTS) throw error;
    }
  }
}

interface IndexBuild {
  failures: number;
  /** Whether it is under way, has succeeded, or waits for its next try. */
  isBegun: boolean;
}

const indexBuilds = new WeakMap<object, IndexBuild>();

/**
 * Builds the index that removes records when they expire, once for each connection: until then they do no harm. A build that
 * fails is logged, and repeated without a word until it succeeds.
 */
async function buildIndex(connection: Connection, keys: Collection): Promise<void> {
  const { db = connection } = connection;
  const build = indexBuilds.get(db) ?? { failures: 0, isBegun: false };
  if (build.isBegun) return;
  indexBuilds.set(db, Object.assign(build, { isBegun: true }));
  try {
    await keys.createIndex({ expires: 1 }, { expireAfterSeconds: 0 });
    if (build.failures > 0) logHint("The index that removes the keys of clients is built");
    build.failures = 0;
  } catch (error) {
    if (build.failures === 0) {
      logHint(
        `Cannot build the index that removes the keys of clients: ${error}; it is tried again until it succeeds`,
      );
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** build.failures++, LONGEST_PAUSE_MS);
    setTimeout(() => build.isBegun = false, pause).unref();
  }
}

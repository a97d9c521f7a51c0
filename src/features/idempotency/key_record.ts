import { setTimeout } from "node:timers";
import mongoose from "mongoose";
import type { ClientSession, Collection, Connection } from "mongoose";
import { TimeBudget } from "../../store/time_budget.ts";
import { writePastLock } from "../../store/write_past_lock.ts";
import { logHint } from "../../errors/log.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import type { StatementOptions } from "../../schema/mongoose/statements/save_by.ts";
import { runOutside } from "../../schema/mongoose/statements/transaction_around.ts";
import type { CreationClaim } from "../../sources/source.ts";

/** Keys are in the database of the entities, so that one transaction writes both. */
const COLLECTION = "mongrove_keys";

/**
 * A running transaction locks the record within this time, so an unlocked record then belongs to an aborted
 * transaction.
 */
const BEGUN_MS = 5000;

const RELEASE_MS = 2000;

/** Another request may insert the same key. */
const MAX_ATTEMPTS = 5;

/** The pause doubles with each failed index build. */
const FIRST_PAUSE_MS = 1000;

const LONGEST_PAUSE_MS = 60_000;

interface KeyUse {
  /** Hashes key, path and client, so that equal keys of two clients differ. */
  readonly name: string;
  readonly body: string;
  readonly ids: readonly unknown[];
  readonly keepMS: number;
  readonly lostMS: number;
}

interface StoredKey {
  readonly body: string;
  readonly ids: readonly unknown[];
  readonly holder: object;
  readonly isDone?: boolean;
  readonly isHidden?: boolean;
  readonly age: unknown;
}

/** Only the holder of the record may create entities with its identifiers. */
export class KeyRecord implements CreationClaim {
  readonly #keys: Collection;
  readonly #filter: object;
  readonly #timeBudget: TimeBudget;
  ids: readonly unknown[];
  /** If middleware of Mongoose hides the entity, a repeated request answers without it, and not with a 404. */
  readonly isHidden: boolean;
  #taken = 0;
  isFinished = false;
  /** The request was too slow, so another request holds its key. */
  isLost = false;

  private constructor(
    readonly state: "new" | "resumed" | "done" | "busy" | "misused",
    readonly ageMS: number,
    { keys, filter, ids, isHidden, timeBudget }: {
      readonly keys: Collection;
      readonly filter: object;
      readonly ids: readonly unknown[];
      readonly isHidden: boolean;
      readonly timeBudget: TimeBudget;
    },
  ) {
    this.#keys = keys;
    this.#filter = filter;
    this.#timeBudget = timeBudget;
    this.ids = ids;
    this.isHidden = isHidden;
  }

  /**
   * By a single statement, two requests cannot store the same key. The database compares times, because clocks differ.
   */
  static async claim(
    connection: Connection,
    { name, ...use }: KeyUse & { readonly timeBudget: TimeBudget },
  ): Promise<KeyRecord> {
    const { timeBudget } = use;
    const keys = connection.collection(COLLECTION);
    void runOutside(() => buildIndex(connection, keys));
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
    const isHidden = state === "resumed" || found.isHidden === true;
    const held = { keys, filter, ids: found.ids, isHidden, timeBudget };
    return new KeyRecord(state, Number(found.age), held);
  }

  takeId(): unknown {
    return this.ids[this.#taken++];
  }

  async keep(entities: readonly object[]): Promise<void> {
    if (entities.some((each) => isDocument(each) && !each.isNew)) {
      throw new TypeError("Cannot create once for a key: the fetch hook gave a stored entity");
    }
    const ids = idsOf(entities);
    if (String(ids) === String(this.ids)) return;
    if (!await this.#update({ $set: { ids } })) throw new StoreFailure({ kind: "changed" });
    this.ids = ids;
  }

  /** If the transaction ends without a commit, a repeated request may take over after `BEGUN_MS`. */
  async begin(): Promise<void> {
    await this.#hold([{ $set: { begun: "$$NOW" } }]);
  }

  async finishIn(session: ClientSession): Promise<void> {
    await this.#hold({ $set: { isDone: true, ids: this.ids } }, session);
  }

  async #hold(changes: object, session?: ClientSession): Promise<void> {
    if (await this.#update(changes, session)) return;
    this.isLost = true;
    throw new StoreFailure({ kind: "changed" });
  }

  commit(): void {
    this.isFinished = true;
  }

  /** If this update fails, repeated requests answer 409 until this request counts as lost. */
  async finish(entities: readonly object[] = []): Promise<void> {
    const ids = entities.length > 0 ? idsOf(entities) : this.ids;
    if (this.isFinished && String(ids) === String(this.ids)) return;
    this.isFinished = true;
    this.ids = ids;
    await this.#update({ $set: { isDone: true, ids } }).catch(() => {});
  }

  async hide(): Promise<void> {
    await this.#update({ $set: { isHidden: true } }).catch(() => {});
  }

  /** A repeated request takes over the key at once, so this request must write nothing any more. */
  async release(): Promise<void> {
    // The request may have no time left, so the release gets its own.
    const timeBudget = new TimeBudget(RELEASE_MS);
    const update = { $set: { at: new Date(0) } };
    const release = this.#keys.updateOne(this.#filter, update, timeBudget.statement());
    await timeBudget.wait(release).catch(() => {});
  }

  /** If this removal fails, the key is usable after this request counts as lost. */
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

function isBefore(time: string, milliseconds: number): object {
  const then = { $subtract: ["$$NOW", milliseconds] };
  return { $and: [{ $gt: [time, null] }, { $lte: [time, then] }] };
}

const SHOWN = {
  body: 1,
  ids: 1,
  holder: 1,
  isDone: 1,
  isHidden: 1,
  age: { $subtract: ["$$NOW", "$at"] },
};

async function upsert(
  keys: Collection,
  { name, update, options }: {
    readonly name: string;
    readonly update: object[];
    readonly options: StatementOptions;
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
      // A duplicate key ends a transaction, so another attempt in it would fail.
      const isMet = Object(error).code === 11000 && options.session === undefined;
      if (!isMet || tries === MAX_ATTEMPTS) throw error;
    }
  }
}

interface IndexBuild {
  failures: number;
  /** Also true after a success, and during the pause after a failure, so that no other build begins. */
  isBegun: boolean;
}

const indexBuilds = new WeakMap<object, IndexBuild>();

/** Expired keys do no harm while the index is missing, so nothing waits for it. */
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

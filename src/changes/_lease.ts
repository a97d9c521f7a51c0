import { clearTimeout, setTimeout } from "node:timers";
import mongoose from "mongoose";
import type { Collection, Connection, mongo } from "mongoose";
import { withTimeLimit } from "../database/time_limit.ts";

/** The collection with a record of each follower: who holds the lease, and how far it has come. */
const COLLECTION = "mongrove_follows";

/** Where a follower goes on: behind a token, or at a time where there is none yet. */
export type Position =
  | { readonly token: mongo.ResumeToken }
  | { readonly from: mongo.Timestamp };

/** How far a follower has come. */
export interface Progress {
  readonly position: Position;
  /** The time up to which all changes are handled. */
  readonly at?: Date;
  /** How long ago that was, if there were no more. */
  readonly idleMS?: number;
}

/** How long after a read without changes there are none: each takes a second. */
const IDLE_MS = 5000;

interface StoredFollow {
  readonly holder: object;
  readonly token?: mongo.ResumeToken;
  readonly from: mongo.Timestamp;
  readonly at: Date;
}

export interface LeaseOptions {
  /** The name of the record. */
  readonly name: string;
  readonly leaseMS: number;
}

/** The time that one process has to handle changes, by the clock of the database. It ends unless it is renewed. */
export class Lease {
  readonly #records: Collection;
  readonly #name: string;
  readonly #filter: object;
  readonly #leaseMS: number;
  readonly #lost = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #validUntil = 0;

  private constructor(
    connection: Connection,
    /** Where the process begins, as it is stored. */
    readonly start: { readonly position: Position; readonly at: Date },
    { holder, name, leaseMS, since }: LeaseOptions & {
      readonly holder: object;
      readonly since: number;
    },
  ) {
    this.#records = connection.collection(COLLECTION);
    this.#name = name;
    this.#filter = { _id: name, holder };
    this.#leaseMS = leaseMS;
    this.#extend(since);
  }

  /** Claims the lease; `undefined` if another process has it. The first claim begins with the changes after it. */
  static async claim(connection: Connection, options: LeaseOptions): Promise<Lease | undefined> {
    const records = connection.collection(COLLECTION);
    const { name: _id, leaseMS } = options;
    const [holder, since] = [new mongoose.Types.ObjectId(), performance.now()];
    const first = { from: "$$CLUSTER_TIME", at: "$$NOW" };
    const claim = { holder, until: { $add: ["$$NOW", leaseMS] } };
    const claimed = { $mergeObjects: [first, "$$ROOT", claim] };
    const isFree = { $lte: ["$until", "$$NOW"] };
    const update = [{ $replaceWith: { $cond: [isFree, claimed, "$$ROOT"] } }];
    const claiming = (signal: AbortSignal) =>
      records.findOneAndUpdate({ _id } as object, update as never, {
        ...MAJORITY,
        ...{ upsert: true, returnDocument: "after", signal },
      }).catch(noneIfDuplicate);
    const limit = { ms: leaseMS, message: `Cannot claim the lease of "${_id}"` };
    const found = await withTimeLimit(claiming, limit) as unknown as StoredFollow | null;
    if (found === null || String(found.holder) !== String(holder)) return undefined;
    const { token, from, at } = found;
    const position = token === undefined ? { from: after(from) } : { token };
    return new Lease(connection, { position, at }, { ...options, holder, since });
  }

  /** Aborted when another process may have the lease. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether no other process has the lease: timers may be late. */
  get isHeld(): boolean {
    return !this.signal.aborted && performance.now() < this.#validUntil;
  }

  /**
   * Renews the lease, and notes how far the process has come: nothing is noted if another one has claimed it.
   *
   * @returns Whether dead letters wait to be handled again.
   */
  async renew({ position, at, idleMS }: Progress): Promise<boolean> {
    const since = performance.now();
    const update = {
      until: { $add: ["$$NOW", this.#leaseMS] },
      ..."token" in position
        ? { token: { $literal: position.token } }
        : { ...position, token: "$$REMOVE" },
      at: idleMS === undefined ? at : { $subtract: ["$$NOW", Math.ceil(idleMS)] },
      isIdle: idleMS !== undefined && idleMS < IDLE_MS,
      hasReplays: "$$REMOVE",
    };
    const found = await this.#limit("renew", (signal) =>
      this.#records.findOneAndUpdate(
        this.#filter,
        [{ $set: update }] as never,
        { ...MAJORITY, ...{ returnDocument: "before", signal } },
      ));
    if (found === null) this.lose();
    else this.#extend(since);
    return found?.hasReplays === true;
  }

  /** Lets another process claim the lease at once. */
  async release(): Promise<void> {
    this.lose();
    const update = [{ $set: { until: "$$NOW", isIdle: false } }];
    await this.#limit(
      "release",
      (signal) => this.#records.updateOne(this.#filter, update as never, { ...{ signal } }),
    );
  }

  /** Sends a statement, and waits no longer for it than the lease may last. */
  #limit<T>(action: string, work: (signal: AbortSignal) => PromiseLike<T>): Promise<T> {
    const message = `Cannot ${action} the lease of "${this.#name}"`;
    return withTimeLimit(work, { ms: this.#leaseMS, message });
  }

  lose(): void {
    clearTimeout(this.#timer);
    this.#lost.abort(new Error("The lease is lost"));
  }

  #extend(since: number): void {
    if (this.signal.aborted) return;
    this.#validUntil = since + this.#leaseMS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.lose(), this.#validUntil - performance.now());
  }
}

/** Of two processes that claim the first lease at once, the database refuses one. */
function noneIfDuplicate(error: unknown): null {
  if ((error as { readonly code?: unknown } | undefined)?.code === 11000) return null;
  throw error;
}

/** No failover undoes a claim, and no claim is made on a primary that has been replaced. */
const MAJORITY = { writeConcern: { w: "majority" } } as const;

/** The time after a time of the database, which is that of its last change. */
export function after(time: mongo.Timestamp): mongo.Timestamp {
  return mongoose.mongo.Timestamp.fromBits(time.getLowBits() + 1, time.getHighBits());
}

/** The time of the database, from which on changes are new. */
export async function nowOf(connection: Connection): Promise<Position> {
  const { operationTime } = await connection.getClient().db(connection.name)
    .command({ ping: 1 }, { readPreference: "primary" });
  return { from: after(operationTime) };
}

/** Tells how far a follower is behind, in milliseconds; `undefined` if none has ever begun. */
export async function lagOf(connection: Connection, name: string): Promise<number | undefined> {
  const behind = { $subtract: ["$$NOW", "$at"] };
  const isLive = { $and: ["$isIdle", { $gt: ["$until", "$$NOW"] }] };
  const projection = { lag: { $cond: [isLive, 0, behind] } };
  const options = { projection, readPreference: "primary" } as const;
  const found = await connection.collection(COLLECTION).findOne({ _id: name } as object, options);
  return found === null ? undefined : Math.max(0, Number(found.lag));
}

/** Has the process with the lease look for dead letters that wait. */
export async function announceReplays(connection: Connection, name: string): Promise<void> {
  const update = { $set: { hasReplays: true } };
  await connection.collection(COLLECTION).updateOne({ _id: name } as object, update);
}

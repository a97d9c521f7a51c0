import { clearTimeout, setTimeout } from "node:timers";
import mongoose from "mongoose";
import type { Collection, Connection, mongo } from "mongoose";
import { withTimeLimit } from "../database/time_limit.ts";

/**
 * The collection with one record for each follower. The record has the lease holder and the progress of the follower.
 */
const COLLECTION = "mongrove_follows";

/**
 * A position in the change stream after which a follower continues to read. The position is a resume token, or a
 * cluster time before the first token exists.
 */
export type Position =
  | { readonly token: mongo.ResumeToken }
  | { readonly from: mongo.Timestamp };

/** The position in the change stream up to which changes are handled, from the stored record of the follower. */
export interface Place {
  readonly position: Position;
  readonly at: Date;
}

/**
 * The position in the change stream up to which this process has handled changes. The next renewal of the lease stores
 * it.
 */
export interface Progress {
  readonly position: Position;
  /**
   * The time up to which all changes are handled. Absent if `idleMS` is present, from which the database computes the
   * time.
   */
  readonly at?: Date;
  /**
   * The time since the last read that found no more changes, in milliseconds. Present only if all changes are handled.
   */
  readonly idleMS?: number;
}

/**
 * The time after a read without changes during which the lag of a follower is 0. Such a read takes one second, so a
 * follower that reads all the time stays within this time.
 */
const IDLE_MS = 5000;

interface StoredFollow {
  readonly holder: object;
  readonly token?: mongo.ResumeToken;
  readonly from: mongo.Timestamp;
  readonly at: Date;
}

export interface LeaseOptions {
  /** The name of the follower's record, which joins the names of the collection and the follower. */
  readonly name: string;
  readonly leaseMS: number;
}

interface ClaimOptions extends LeaseOptions {
  /** The progress to begin with if the record is missing, for example because somebody has dropped the database. */
  readonly place: Place | undefined;
}

/**
 * The exclusive right of one process to handle the changes of a follower. By the clock of the database, the lease ends
 * after `leaseMS` unless the process renews it, so that another process continues after a crash.
 */
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

  /**
   * Claims the lease. After the first claim, the follower begins with the changes since that claim.
   *
   * @returns The progress of the follower. The result has no lease if another process has the lease.
   */
  static async claim(
    connection: Connection,
    { place, ...options }: ClaimOptions,
  ): Promise<{ readonly lease?: Lease; readonly place: Place | undefined }> {
    const records = connection.collection(COLLECTION);
    const { name: _id, leaseMS } = options;
    const [holder, since] = [new mongoose.Types.ObjectId(), performance.now()];
    const now = { from: "$$CLUSTER_TIME", at: "$$NOW" };
    const first = place === undefined ? now : { ...now, ...storedPlace(place) };
    const claim = { holder, until: { $add: ["$$NOW", leaseMS] } };
    const claimed = { $mergeObjects: [first, "$$ROOT", claim] };
    const isFree = { $lte: ["$until", "$$NOW"] };
    const update = [{ $replaceWith: { $cond: [isFree, claimed, "$$ROOT"] } }];
    const claiming = (signal: AbortSignal) => {
      const options = { ...MAJORITY, upsert: true, returnDocument: "after", signal } as const;
      return records.findOneAndUpdate({ _id } as object, update as never, options)
        .catch(noneIfDuplicate);
    };
    const limit = { ms: leaseMS, message: `Cannot claim the lease of "${_id}"` };
    const found = await withTimeLimit(claiming, limit) as unknown as StoredFollow | null;
    if (found === null) return { place };
    const { token, from, at } = found;
    const seen = { position: token === undefined ? { from } : { token }, at };
    if (String(found.holder) !== String(holder)) return { place: seen };
    return { lease: new Lease(connection, { ...options, holder, since }), place: seen };
  }

  /** The signal that is aborted when another process may have the lease, so that this process stops its handlers. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Whether no other process can have the lease, so that a handler may start. The clock is checked too, because the
   * timer that aborts `signal` may be late.
   */
  get isHeld(): boolean {
    return !this.signal.aborted && performance.now() < this.#validUntil;
  }

  /**
   * Renews the lease and stores the progress. If another process has claimed the lease, nothing is stored, and this
   * process loses the lease.
   *
   * @returns Whether dead letters are marked to be handled again, so that the caller reads them.
   */
  async renew(progress: Progress): Promise<boolean> {
    const since = performance.now();
    const found = await this.#note("renew", {
      ...progressFields(progress),
      until: { $add: ["$$NOW", this.#leaseMS] },
      hasReplays: "$$REMOVE",
    });
    if (found === null) this.lose();
    else this.#extend(since);
    return found?.hasReplays === true;
  }

  /** Stores the progress, and lets another process claim the lease. */
  async release(progress: Progress): Promise<void> {
    this.lose();
    await this.#note("release", { ...progressFields(progress), until: "$$NOW", isIdle: false });
  }

  lose(): void {
    clearTimeout(this.#timer);
    this.#lost.abort(new Error("The lease is lost"));
  }

  /**
   * Updates the record if this process has the lease. The statement may take at most the duration of the lease, because
   * the lease has ended by then.
   */
  #note(
    action: string,
    fields: object,
  ): Promise<Record<string, unknown> | null> {
    const message = `Cannot ${action} the lease of "${this.#name}"`;
    const change = (signal: AbortSignal) => {
      const options = { ...MAJORITY, returnDocument: "before", signal } as const;
      return this.#records.findOneAndUpdate(this.#filter, [{ $set: fields }] as never, options);
    };
    return withTimeLimit(change, { ms: this.#leaseMS, message });
  }

  #extend(since: number): void {
    if (this.signal.aborted) return;
    this.#validUntil = since + this.#leaseMS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.lose(), this.#validUntil - performance.now());
  }
}

/**
 * Returns `null` for a duplicate key. If two processes claim the first lease at once, MongoDB refuses one of them, and
 * that process has no lease.
 */
function noneIfDuplicate(error: unknown): null {
  if ((error as { readonly code?: unknown } | undefined)?.code === 11000) return null;
  throw error;
}

/**
 * The write concern of all changes to a lease. A failover cannot undo a claim, and a replaced primary cannot confirm a
 * claim, so two processes never have the lease at once.
 */
const MAJORITY = { writeConcern: { w: "majority" } } as const;

/**
 * Returns the position and the times as fields of the stored record. Times are computed by the clock of the database,
 * because the clocks of processes differ.
 */
function progressFields({ position, at, idleMS }: Progress): object {
  return {
    ..."token" in position
      ? { token: { $literal: position.token } }
      : { ...position, token: "$$REMOVE" },
    at: idleMS === undefined ? at : { $subtract: ["$$NOW", Math.ceil(idleMS)] },
    isIdle: idleMS !== undefined && idleMS < IDLE_MS,
  };
}

export function placeOf({ position, at, idleMS = 0 }: Progress): Place {
  return { position, at: at ?? new Date(Date.now() - idleMS) };
}

function storedPlace({ position, at }: Place): object {
  return { ..."token" in position ? { token: { $literal: position.token } } : position, at };
}

/** The time that the database may take to return its clock. */
const PING_MS = 5000;

/** Returns the current cluster time. A change stream after this position has only changes that are made later. */
export async function nowOf(connection: Connection): Promise<Position> {
  const db = connection.getClient().db(connection.name);
  const ping = (signal: AbortSignal) =>
    db.command({ ping: 1 }, { readPreference: "primary", signal });
  const limit = { ms: PING_MS, message: "Cannot read the time of the database" };
  const { operationTime } = await withTimeLimit(ping, limit);
  return { from: operationTime };
}

/**
 * Returns how far a follower is behind, in milliseconds. Returns `undefined` if the follower has no record, because no
 * process has ever started it.
 */
export async function lagOf(connection: Connection, name: string): Promise<number | undefined> {
  const behind = { $subtract: ["$$NOW", "$at"] };
  const isLive = { $and: ["$isIdle", { $gt: ["$until", "$$NOW"] }] };
  const projection = { lag: { $cond: [isLive, 0, behind] } };
  const options = { projection, readPreference: "primary" } as const;
  const found = await connection.collection(COLLECTION).findOne({ _id: name } as object, options);
  return found === null ? undefined : Math.max(0, Number(found.lag));
}

/** Makes the lease holder read the marked dead letters when it next renews the lease. */
export async function announceReplays(connection: Connection, name: string): Promise<void> {
  const update = { $set: { hasReplays: true } };
  await connection.collection(COLLECTION).updateOne({ _id: name } as object, update);
}

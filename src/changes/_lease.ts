import { clearTimeout, setTimeout } from "node:timers";
import mongoose from "mongoose";
import type { Collection, Connection, mongo } from "mongoose";
import { withTimeLimit } from "../database/time_limit.ts";

/** The collection with a record of each follower: who holds the lease, and how far it has come. */
const COLLECTION = "mongrove_follows";

/** Where a follower goes on: behind a token, or behind a time where there is none yet. */
export type Position =
  | { readonly token: mongo.ResumeToken }
  | { readonly from: mongo.Timestamp };

/** How far a follower has come, as it is stored. */
export interface Place {
  readonly position: Position;
  readonly at: Date;
}

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

interface ClaimOptions extends LeaseOptions {
  /** Where to begin if the record is missing: somebody has removed it, such as by dropping the database. */
  readonly place: Place | undefined;
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
   * Claims the lease. The first claim begins with the changes after it.
   *
   * @returns The lease, unless another process has it, and how far the follower has come.
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
    const claiming = (signal: AbortSignal) =>
      records.findOneAndUpdate({ _id } as object, update as never, {
        ...MAJORITY,
        ...{ upsert: true, returnDocument: "after", signal },
      }).catch(noneIfDuplicate);
    const limit = { ms: leaseMS, message: `Cannot claim the lease of "${_id}"` };
    const found = await withTimeLimit(claiming, limit) as unknown as StoredFollow | null;
    if (found === null) return { place };
    const { token, from, at } = found;
    const seen = { position: token === undefined ? { from } : { token }, at };
    if (String(found.holder) !== String(holder)) return { place: seen };
    return { lease: new Lease(connection, { ...options, holder, since }), place: seen };
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

  /** Notes how far the process has come, and lets another process claim the lease. */
  async release(progress: Progress): Promise<void> {
    this.lose();
    await this.#note("release", { ...progressFields(progress), until: "$$NOW", isIdle: false });
  }

  lose(): void {
    clearTimeout(this.#timer);
    this.#lost.abort(new Error("The lease is lost"));
  }

  /** Changes the record if the process has the lease. The statement may take no longer than the lease lasts. */
  #note(
    action: string,
    fields: object,
  ): Promise<Record<string, unknown> | null> {
    const message = `Cannot ${action} the lease of "${this.#name}"`;
    const change = (signal: AbortSignal) =>
      this.#records.findOneAndUpdate(this.#filter, [{ $set: fields }] as never, {
        ...MAJORITY,
        ...{ returnDocument: "before", signal },
      });
    return withTimeLimit(change, { ms: this.#leaseMS, message });
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

/** Returns the fields of a record that say how far a process has come. */
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

/** How long the database may take to tell its time. */
const PING_MS = 5000;

/** Returns the time of the database, behind which changes are new. */
export async function nowOf(connection: Connection): Promise<Position> {
  const db = connection.getClient().db(connection.name);
  const ping = (signal: AbortSignal) =>
    db.command({ ping: 1 }, { readPreference: "primary", signal });
  const limit = { ms: PING_MS, message: "Cannot read the time of the database" };
  const { operationTime } = await withTimeLimit(ping, limit);
  return { from: operationTime };
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

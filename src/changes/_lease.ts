import type { Connection, mongo } from "mongoose";
import { Lease } from "../database/lease.ts";
import { withTimeLimit } from "../database/time_limit.ts";

/**
 * The collection with one record for each follower of changes. The record has the lease holder, and the position up to
 * which the follower has handled changes.
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
 * the position in the record of the follower.
 */
export interface Progress {
  readonly position: Position;
  /**
   * The time up to which all changes are handled. Absent if `idleMS` is present, because the database computes this
   * time by subtracting `idleMS` from its current time.
   */
  readonly at?: Date;
  /** The time since the change stream had no more events, in milliseconds. Present only if all changes are handled. */
  readonly idleMS?: number;
}

/**
 * The time in milliseconds after a read without changes for which `lag()` of a follower is 0. A read waits one second
 * for changes, so a follower that reads all the time stays within this time.
 */
const IDLE_MS = 5000;

interface StoredFollow {
  readonly token?: mongo.ResumeToken;
  readonly from: mongo.Timestamp;
  readonly at: Date;
}

interface ClaimOptions {
  /**
   * The identifier of the follower's record, which joins the names of the collection and the follower, as in
   * `tickets/search`.
   */
  readonly name: string;
  readonly leaseMS: number;
  /**
   * The last progress of the follower that this process knows. The follower continues after this position if its stored
   * record is missing, for example because somebody has dropped the database.
   */
  readonly place: Place | undefined;
}

/**
 * Tries to get the lease of a follower, which is the exclusive right of one process to handle the changes. A follower
 * without a stored record begins with the changes since this call.
 *
 * @returns The progress of the follower. The result has no lease if another process has the lease.
 */
export async function claimFollow(
  connection: Connection,
  { name, leaseMS, place }: ClaimOptions,
): Promise<{ readonly lease?: Lease; readonly place: Place | undefined }> {
  const now = { from: "$$CLUSTER_TIME", at: "$$NOW" };
  const first = place === undefined ? now : { ...now, ...storedPlace(place) };
  const records = connection.collection(COLLECTION);
  const { record, ...claimed } = await Lease.claim<StoredFollow>({ records, name, leaseMS, first });
  if (record === undefined) return { place };
  const { token, from, at } = record;
  return { ...claimed, place: { position: token === undefined ? { from } : { token }, at } };
}

/**
 * Renews the lease of a follower and stores the progress. If another process has got the lease, nothing is stored, and
 * this process loses the lease.
 *
 * @returns Whether dead letters are marked to be handled again, so that the caller reads them.
 */
export async function renewFollow(lease: Lease, progress: Progress): Promise<boolean> {
  const found = await lease.renew({ ...progressFields(progress), hasReplays: "$$REMOVE" });
  return found?.hasReplays === true;
}

/**
 * Renews the lease and stores the progress, as {@linkcode renewFollow} does. The marks of dead letters stay for the next
 * call of that function.
 */
export async function storeProgress(lease: Lease, progress: Progress): Promise<void> {
  await lease.renew(progressFields(progress));
}

/** Stores the progress of a follower and ends its lease, so that another process can continue at once. */
export async function releaseFollow(lease: Lease, progress: Progress): Promise<void> {
  await lease.release({ ...progressFields(progress), isIdle: false });
}

/**
 * Returns the fields of the follower's record that hold its progress, as expressions of an aggregation. The database
 * computes the times by its own clock, because the clocks of processes differ.
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

/**
 * The time limit for the command that reads the cluster time of the database, in milliseconds. A follower needs this
 * time to continue after lost changes, and must not wait forever for a database that does not answer.
 */
const PING_MS = 5000;

/**
 * Returns the current cluster time. A change stream after this position has only changes that are made later. `at` is
 * exact to the second only.
 */
export async function nowOf(connection: Connection): Promise<Place> {
  const db = connection.getClient().db(connection.name);
  const ping = (signal: AbortSignal) =>
    db.command({ ping: 1 }, { readPreference: "primary", signal });
  const limit = { ms: PING_MS, message: "Cannot read the time of the database" };
  const { operationTime } = await withTimeLimit(ping, limit);
  return { position: { from: operationTime }, at: new Date(operationTime.getHighBits() * 1000) };
}

/**
 * Returns the milliseconds between the current time of the database and the last change that a follower has handled.
 * Returns `undefined` if the follower has no record, because no process has ever started it.
 */
export async function lagOf(connection: Connection, name: string): Promise<number | undefined> {
  const behind = { $subtract: ["$$NOW", "$at"] };
  const isLive = { $and: ["$isIdle", { $gt: ["$until", "$$NOW"] }] };
  const projection = { lag: { $cond: [isLive, 0, behind] } };
  const options = { projection, readPreference: "primary" } as const;
  const found = await connection.collection(COLLECTION).findOne({ _id: name } as object, options);
  return found === null ? undefined : Math.max(0, Number(found.lag));
}

/**
 * Stores a mark in the record of a follower after `replay()`. The lease holder finds the mark when it next renews the
 * lease, and handles the selected dead letters again.
 */
export async function announceReplays(connection: Connection, name: string): Promise<void> {
  const update = { $set: { hasReplays: true } };
  await connection.collection(COLLECTION).updateOne({ _id: name } as object, update);
}

import type { Connection, mongo } from "mongoose";
import { Lease } from "../store/lease.ts";
import { withTimeLimit } from "../store/time_limit.ts";

const COLLECTION = "mongrove_follows";

/** A cluster time stands for the resume token before the first token exists. */
export type Position =
  | { readonly token: mongo.ResumeToken }
  | { readonly from: mongo.Timestamp };

export interface Checkpoint {
  readonly position: Position;
  readonly at: Date;
}

export interface Progress {
  readonly position: Position;
  /** If `idleMS` is present, the database computes this time by its own clock. */
  readonly at?: Date;
  /** The time since the change stream had no more events. Present only if all changes are handled. */
  readonly idleMS?: number;
}

/**
 * A follower counts as up to date for this time after a read without changes. Reads take one second, so some may fail
 * before `lag()` grows.
 */
const IDLE_MS = 5000;

interface StoredFollow {
  readonly token?: mongo.ResumeToken;
  readonly from: mongo.Timestamp;
  readonly at: Date;
}

interface FollowClaim {
  readonly name: string;
  readonly leaseMS: number;
  /** The follower continues here if its stored record is missing, as after a drop of the database. */
  readonly checkpoint: Checkpoint | undefined;
}

export async function claimFollow(
  connection: Connection,
  { name, leaseMS, checkpoint }: FollowClaim,
): Promise<{ readonly lease?: Lease; readonly checkpoint: Checkpoint | undefined }> {
  const now = { from: "$$CLUSTER_TIME", at: "$$NOW" };
  const first = checkpoint === undefined ? now : { ...now, ...storedCheckpoint(checkpoint) };
  const records = connection.collection(COLLECTION);
  const { record, ...claimed } = await Lease.claim<StoredFollow>({ records, name, leaseMS, first });
  if (record === undefined) return { checkpoint };
  const { token, from, at } = record;
  return { ...claimed, checkpoint: { position: token === undefined ? { from } : { token }, at } };
}

/** Stores nothing if another process has got the lease. Returns whether dead letters are marked for a replay. */
export async function renewFollow(lease: Lease, progress: Progress): Promise<boolean> {
  const found = await lease.renew({ ...progressFields(progress), hasReplays: "$$REMOVE" });
  return found?.hasReplays === true;
}

/** Keeps the mark for replays, because only the caller of `renewFollow()` starts them. */
export async function storeProgress(lease: Lease, progress: Progress): Promise<void> {
  await lease.renew(progressFields(progress));
}

export async function releaseFollow(lease: Lease, progress: Progress): Promise<void> {
  await lease.release({ ...progressFields(progress), isIdle: false });
}

/** The clocks of processes differ, so the database computes the times. */
function progressFields({ position, at, idleMS }: Progress): object {
  return {
    ..."token" in position
      ? { token: { $literal: position.token } }
      : { ...position, token: "$$REMOVE" },
    at: idleMS === undefined ? at : { $subtract: ["$$NOW", Math.ceil(idleMS)] },
    isIdle: idleMS !== undefined && idleMS < IDLE_MS,
  };
}

export function checkpointOf({ position, at, idleMS = 0 }: Progress): Checkpoint {
  return { position, at: at ?? new Date(Date.now() - idleMS) };
}

function storedCheckpoint({ position, at }: Checkpoint): object {
  return { ..."token" in position ? { token: { $literal: position.token } } : position, at };
}

const PING_MS = 5000;

/** The operation time counts seconds, so `at` has no milliseconds. */
export async function nowOf(connection: Connection): Promise<Checkpoint> {
  const db = connection.getClient().db(connection.name);
  const ping = (signal: AbortSignal) =>
    db.command({ ping: 1 }, { readPreference: "primary", signal });
  const limit = { ms: PING_MS, message: "Cannot read the time of the database" };
  const { operationTime } = await withTimeLimit(ping, limit);
  return { position: { from: operationTime }, at: new Date(operationTime.getHighBits() * 1000) };
}

export async function lagOf(connection: Connection, name: string): Promise<number | undefined> {
  const behind = { $subtract: ["$$NOW", "$at"] };
  const isLive = { $and: ["$isIdle", { $gt: ["$until", "$$NOW"] }] };
  const projection = { lag: { $cond: [isLive, 0, behind] } };
  const options = { projection, readPreference: "primary" } as const;
  const found = await connection.collection(COLLECTION).findOne({ _id: name } as object, options);
  return found === null ? undefined : Math.max(0, Number(found.lag));
}

export async function announceReplays(connection: Connection, name: string): Promise<void> {
  const update = { $set: { hasReplays: true } };
  await connection.collection(COLLECTION).updateOne({ _id: name } as object, update);
}

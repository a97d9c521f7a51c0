import mongoose from "mongoose";
import type { ClientSession, Connection } from "mongoose";
import { hasTransactions, hasTurns, inTransaction } from "./in_transaction.ts";
import { isReplicated } from "../schema/mongoose/connections.ts";
import { sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import type { TimeBudget } from "./time_budget.ts";

const FIRST_ATTEMPT_MS = 500;

/**
 * In a replica set, the limit includes the copying to other members, so a short limit would stop writes that meet no
 * lock.
 */
function firstAttemptMS(connection: Connection, { left }: TimeBudget): number {
  if (isReplicated(connection)) return left / 2;
  return Math.min(patience.get(connection.getClient()) ?? FIRST_ATTEMPT_MS, left / 2);
}

/** A slow database gets a longer limit, because each repetition would make it slower. */
const patience = new WeakMap<object, number>();

function notePatience(
  connection: Connection,
  { endedMS, wasLocked }: { readonly endedMS: number | undefined; readonly wasLocked: boolean },
): void {
  if (endedMS === undefined) return;
  patience.set(connection.getClient(), wasLocked ? FIRST_ATTEMPT_MS : 2 * endedMS);
}

const TIMED_OUT = 50;

export interface LockOptions {
  readonly connection: Connection;
  /** Names the document. Writes that wait for its lock run in turn, so that only one uses a connection. */
  readonly name: () => string;
  readonly timeBudget: TimeBudget;
}

/** The work may run several times, because a transaction is repeated after a conflict. */
export type Work<T> = (session?: ClientSession, mostMS?: number) => Promise<T>;

/**
 * A statement that waits for a lock keeps its connection, so it is stopped early and repeated in transactions, where a
 * lock fails at once.
 */
export async function writePastLock<T>(
  { connection, name, timeBudget }: LockOptions,
  write: Work<T>,
): Promise<T> {
  const turn = () => `lock/${name()}`;
  let endedMS: number | undefined;
  if (sharedSession() === undefined) {
    // A repetition would run outside of the application's transaction.
    if (mongoose.get("transactionAsyncLocalStorage")) return await write();
    if (!hasTurns({ connection }, turn)) {
      const mostMS = firstAttemptMS(connection, timeBudget);
      try {
        return await write(undefined, mostMS);
      } catch (error) {
        if (!hasTimedOut(error) || timeBudget.expired) throw error;
        endedMS = mostMS;
      }
    }
    if (!await hasTransactions(connection.getClient())) {
      notePatience(connection, { endedMS, wasLocked: false });
      return await write();
    }
  }
  const transaction = { connection, turn: turn(), isContended: true, timeBudget };
  let written: { readonly result: T } | undefined;
  let attempts = 0;
  await inTransaction(transaction, async (session) => {
    attempts++;
    written = { result: await write(session) };
  });
  // A second attempt means that the first has failed at a lock.
  notePatience(connection, { endedMS, wasLocked: attempts > 1 });
  return (written as { readonly result: T } | undefined)?.result as T;
}

/** A statement that has timed out has written nothing, so it may be repeated. */
function hasTimedOut(error: unknown): boolean {
  const { MongoServerError, MongoWriteConcernError } = mongoose.mongo;
  return error instanceof MongoServerError && error.code === TIMED_OUT &&
    !(error instanceof MongoWriteConcernError);
}

import mongoose from "mongoose";
import type { ClientSession, Connection } from "mongoose";
import { hasTransactions, hasTurns, inTransaction } from "./in_transaction.ts";
import { isReplicated } from "../schema/mongoose/connections.ts";
import { sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import type { TimeBudget } from "./time_budget.ts";

/**
 * In milliseconds. A waiting attempt occupies a connection of the pool, so a longer wait would leave too few
 * connections for other requests.
 */
const FIRST_ATTEMPT_MS = 500;

/**
 * The server also applies this limit to the time in which other members of a replica set copy the write. A short limit
 * would end a write that is done and only waits for these copies.
 */
function firstAttemptMS(connection: Connection, { left }: TimeBudget): number {
  return isReplicated(connection) ? left / 2 : Math.min(FIRST_ATTEMPT_MS, left / 2);
}

const TIMED_OUT = 50;

export interface LockOptions {
  readonly connection: Connection;
  /**
   * Identifies the document in this process. Writes that wait for the same lock run one after the other, so that only
   * one of them uses a connection.
   */
  readonly name: () => string;
  readonly timeBudget: TimeBudget;
}

/** Sends the statements of a write, again if its transaction is repeated. The server runs each for at most `mostMS`. */
export type Work<T> = (session?: ClientSession, mostMS?: number) => Promise<T>;

/**
 * A statement that waits for a lock keeps its connection. It is therefore stopped after a short time and repeated in
 * transactions, where a lock causes an error at once and no connection is held between attempts.
 */
export async function writePastLock<T>(
  { connection, name, timeBudget }: LockOptions,
  write: Work<T>,
): Promise<T> {
  const turn = () => `lock/${name()}`;
  if (sharedSession() === undefined) {
    // The application runs the request in a transaction. A repetition would run outside of it.
    if (mongoose.get("transactionAsyncLocalStorage")) return await write();
    if (!hasTurns({ connection }, turn)) {
      try {
        return await write(undefined, firstAttemptMS(connection, timeBudget));
      } catch (error) {
        if (!hasTimedOut(error) || timeBudget.expired) throw error;
      }
    }
    if (!await hasTransactions(connection.getClient())) return await write();
  }
  const transaction = { connection, turn: turn(), isContended: true, timeBudget };
  let written: { readonly result: T } | undefined;
  await inTransaction(transaction, async (session) => {
    written = { result: await write(session) };
  });
  return (written as { readonly result: T } | undefined)?.result as T;
}

/** The server has stopped the statement before it wrote anything, so it may be repeated. */
function hasTimedOut(error: unknown): boolean {
  const { MongoServerError, MongoWriteConcernError } = mongoose.mongo;
  return error instanceof MongoServerError && error.code === TIMED_OUT &&
    !(error instanceof MongoWriteConcernError);
}

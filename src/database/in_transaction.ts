import mongoose from "mongoose";
import type { ClientSession, Connection, Document, mongo } from "mongoose";
import { StoreFailure } from "../errors/failure.ts";
import { runOutside, sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import { isOverload } from "./overload.ts";
import type { TimeBudget } from "./time_budget.ts";

interface Deployment {
  hasTransactions?: Promise<boolean> | undefined;
  /**
   * The queues in which transactions and writes of the same data wait for each other, because they would conflict if
   * they ran at once. The keys are names of data, such as a document. Each promise resolves when all work in its queue
   * has ended.
   */
  readonly turns: Map<string, Promise<void>>;
}

const deployments = new WeakMap<mongo.MongoClient, Deployment>();

function deploymentOf(client: mongo.MongoClient): Deployment {
  const known = deployments.get(client) ?? { turns: new Map() };
  deployments.set(client, known);
  return known;
}

export interface TransactionOptions {
  readonly connection: Connection;
  /**
   * The name of the data that the transaction writes, such as a document or a collection. Transactions of this process
   * with the same name can run one after the other, because simultaneous transactions would conflict and have to be
   * repeated.
   */
  readonly turn: string;
  /**
   * Whether the transaction waits for earlier transactions with the same name before its first attempt, because a
   * conflict is likely. Otherwise transactions wait for each other only after two of them have conflicted.
   */
  readonly isContended?: boolean;
  readonly timeBudget: TimeBudget;
  /**
   * Whether a deployment without transactions causes an error. Otherwise the writes run on such a deployment without a
   * transaction, so a failure can leave some of them stored.
   */
  readonly isRequired?: boolean;
  /** The statements that the caller adds to the transaction, such as the update of the record of an idempotency key. */
  readonly part?: TransactionPart | undefined;
}

/**
 * The statements that are stored exactly if the transaction commits, such as the mark on the record of an idempotency
 * key that its request has created the entities.
 */
export interface TransactionPart {
  /**
   * Prepares an attempt of the transaction by a write outside of it. For example, the record of an idempotency key gets
   * the time at which the transaction begins.
   */
  begin(): Promise<void>;
  /**
   * Sends the statements in the transaction, before all other statements. For example, the record of an idempotency key
   * is then locked, which shows a repeated request that the first request is still running.
   */
  finishIn(session: ClientSession): Promise<void>;
  /** Notes that the transaction was committed, so that the statements are not sent again. */
  commit(): void;
}

/**
 * Returns the options with which transactions that write to the same collection run one after the other, as soon as two
 * of them have conflicted.
 */
export function turnsIn(
  { db, collection: { name } }: Pick<Document, "db" | "collection">,
): Pick<TransactionOptions, "connection" | "turn"> {
  return { connection: db, turn: `${db.name}.${name}` };
}

const MAX_ATTEMPTS = 20;

const FIRST_PAUSE_MS = 10;

const LONGEST_PAUSE_MS = 500;

/** The server's error codes for a transaction that is too large. */
const TOO_LARGE = new Set<unknown>([257, 388]);

/** The server's error codes for a document or a collection that another transaction has locked. */
const LOCKS = new Set<unknown>([24, 112]);

/**
 * The server's error codes for a transaction that has met another write. Such a transaction is undone, and a client may
 * repeat its requests. The codes stand for a lock, a write conflict, a snapshot that is too old or not available, a
 * transaction that was undone by an earlier statement, and another transaction that is being committed.
 */
const CLASHES: ReadonlySet<unknown> = new Set([24, 112, 239, 246, 251, 267]);

/** Whether a transaction was undone, because it has met another write. The client may repeat the request. */
export function isClash(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError &&
    error.hasErrorLabel("TransientTransactionError") && CLASHES.has(error.code);
}

/**
 * The server's error codes for a statement that exceeded its `maxTimeMS`, and for a transaction that exceeded the time
 * limit of the server. There is no other attempt.
 */
const TOO_LONG = new Set<unknown>([50, 290]);

/**
 * Runs writes in one transaction, or in the transaction that the request shares with other requests. On a deployment
 * without transactions, the writes run one after the other, or `isRequired` causes an error.
 *
 * @param writes The function that sends the writes. The function runs again after a transient failure. It should write
 * the document that other transactions also write last, because this document stays locked until the commit has ended.
 */
export async function inTransaction(
  options: TransactionOptions,
  writes: (session?: ClientSession) => Promise<unknown>,
): Promise<void> {
  const { connection, turn, isContended, timeBudget, isRequired = false, part } = options;
  const shared = sharedSession();
  if (shared !== undefined) {
    // The requests that share the transaction decide about its end, so nothing is repeated here.
    await part?.begin();
    await part?.finishIn(shared);
    await writes(shared).catch((error) => throwAfterClash(error, { ...options, writes }));
    part?.commit();
    return;
  }
  if (!await hasTransactions(connection.getClient())) {
    if (isRequired) throw new Error(`Cannot write all or nothing: ${NO_TRANSACTIONS}`);
    await writes();
    return;
  }
  timeBudget.isLong = isRequired;
  const attempt = () => attemptOnce(options, writes);
  const waits = isContended || deploymentOf(connection.getClient()).turns.has(turn);
  if (!waits && await timeBudget.wait(attempt()) === undefined) return;
  // After the first conflict, transactions run one after the other, and so do transactions that begin during this time.
  // Without this order, one of many transactions could lose every attempt to the others.
  await takeTurns(options, async () => {
    for (let tries = 1;; tries++) {
      const failure = await attempt();
      if (failure === undefined) return;
      const reason = timeBudget.isLocked ? "locked" : "outage";
      if (tries < MAX_ATTEMPTS) await pause(tries);
      if (tries < MAX_ATTEMPTS && !timeBudget.expired) continue;
      throw new StoreFailure({ kind: "away", reason }, failure.cause);
    }
  });
}

/**
 * Throws "locked" if the writes of a shared transaction have met a lock that stays, or else their error unchanged. The
 * server reports a lock like a write that has been committed meanwhile. The writes are therefore sent again in another
 * transaction, which is never committed.
 */
async function throwAfterClash(
  error: unknown,
  { writes, ...options }: TransactionOptions & {
    readonly writes: (session?: ClientSession) => Promise<unknown>;
  },
): Promise<never> {
  if (!isClash(error)) throw error;
  const trial = { ...options, isContended: true, part: undefined };
  const sent = runOutside(() =>
    inTransaction(trial, async (session) => {
      await writes(session);
      throw new StoreFailure({ kind: "changed" }, error);
    })
  );
  await sent.catch((failure) => {
    throw isLocked(failure) ? failure : error;
  });
  throw error;
}

/** Whether a write has waited in vain for data that another transaction has locked. It has written nothing. */
export function isLocked(error: unknown): boolean {
  return error instanceof StoreFailure && error.failure.kind === "away" &&
    error.failure.reason === "locked";
}

/**
 * Makes one attempt of a transaction. Returns the error if the caller may repeat the transaction. Returns `undefined`
 * after a success.
 */
async function attemptOnce(
  { connection, timeBudget, part }: TransactionOptions,
  writes: (session: ClientSession) => Promise<unknown>,
): Promise<Transient | undefined> {
  try {
    await part?.begin();
    await tryOnce(connection, async (session) => {
      await part?.finishIn(session);
      await writes(session);
    });
    part?.commit();
    timeBudget.isLocked = false;
  } catch (error) {
    const { code } = Object(error);
    if (TOO_LARGE.has(code)) throw new StoreFailure({ kind: "largeTransaction" }, error);
    if (TOO_LONG.has(code)) throw timeBudget.failure(error);
    if (!(error instanceof Transient)) throw error;
    if (isOverload(error.cause)) throw error.cause;
    timeBudget.isLocked = LOCKS.has(Object(error.cause).code);
    return error;
  }
}

export const STANDALONE =
  "the database is a standalone server without transactions; use a replica set";

/**
 * The end of error messages for operations with the option `atomic`, which also names the value of this option that
 * needs no transactions.
 */
export const NO_TRANSACTIONS: string = `${STANDALONE}, or "atomic: false"`;

class Transient extends Error {}

/**
 * Runs a transaction once. Throws a `Transient` error if the transaction may run again. The error prevents a repetition
 * by the driver, which would repeat the transaction for two minutes, even after the request has ended.
 */
async function tryOnce(
  connection: Connection,
  writes: (session: ClientSession) => Promise<void>,
): Promise<void> {
  let begun = false;
  await connection.transaction(async (session) => {
    // The driver calls this function again if the commit has failed. The driver must not repeat the transaction, so the
    // error ends this attempt. Mongoose also resets the documents after the error, so that the next attempt can save
    // them.
    if (begun) throw new Transient("The commit has failed");
    begun = true;
    try {
      await writes(session);
    } catch (error) {
      const isTransient = error instanceof mongoose.mongo.MongoError &&
        error.hasErrorLabel("TransientTransactionError");
      throw isTransient ? new Transient("Again", { cause: error }) : error;
    }
  }, { readPreference: "primary" });
}

/** Waits for a random time that grows with each try, so that the same transactions do not meet in a conflict again. */
export function pause(tries: number): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}

export function hasTransactions(client: mongo.MongoClient): Promise<boolean> {
  const deployment = deploymentOf(client);
  return deployment.hasTransactions ??= client.db("admin").command({ hello: 1 }).then(
    (hello) => hello.setName !== undefined || hello.msg === "isdbgrid",
    (error) => {
      deployment.hasTransactions = undefined;
      throw error;
    },
  );
}

/**
 * Whether other work on the given data, such as a document, is running or waiting, so that new work must wait for it.
 */
export function hasTurns(
  { connection }: Pick<TransactionOptions, "connection">,
  turn: () => string,
) {
  const { turns } = deploymentOf(connection.getClient());
  return turns.size > 0 && turns.has(turn());
}

/**
 * Runs work, such as a transaction, after all earlier work of this process on the same data has ended. Simultaneous
 * writes of one document would conflict. Throws if the time limit of the request passes before the work begins.
 */
export async function takeTurns<T>(
  { connection, turn, timeBudget }: TransactionOptions,
  work: () => Promise<T>,
): Promise<T> {
  // A shared transaction already holds locks. If its work waited here, it could wait for work that waits for these
  // locks, so it runs at once.
  if (sharedSession() !== undefined) return await timeBudget.wait(work());
  const { turns } = deploymentOf(connection.getClient());
  const before = turns.get(turn);
  const run = async () => {
    timeBudget.isLocked = before !== undefined;
    await before;
    if (timeBudget.expired) throw timeBudget.failure();
    return await timeBudget.wait(work());
  };
  const result = run();
  const done = result.then(() => {}, () => {});
  turns.set(turn, done);
  done.then(() => {
    if (turns.get(turn) === done) turns.delete(turn);
  });
  return await timeBudget.wait(result);
}

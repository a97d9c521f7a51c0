import mongoose from "mongoose";
import type { ClientSession, Connection, Document, mongo } from "mongoose";
import { StoreFailure } from "../errors/failure.ts";
import { runOutside, sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import { isOverload } from "./overload.ts";
import type { TimeBudget } from "./time_budget.ts";

interface Deployment {
  hasTransactions?: Promise<boolean> | undefined;
  readonly turns: Map<string, Promise<void>>;
}

const deployments = new WeakMap<mongo.MongoClient, Deployment>();

function deploymentOf(client: mongo.MongoClient): Deployment {
  const deployment = deployments.get(client) ?? { turns: new Map() };
  deployments.set(client, deployment);
  return deployment;
}

export interface TransactionOptions {
  readonly connection: Connection;
  /** Transactions of this process with the same name wait for each other. */
  readonly turn: string;
  readonly isContended?: boolean;
  readonly timeBudget: TimeBudget;
  /** If false, a failure on a standalone server can leave some writes stored. */
  readonly isRequired?: boolean;
  readonly part?: TransactionPart | undefined;
}

/** Statements that are stored only if the transaction commits, such as the record of an idempotency key. */
export interface TransactionPart {
  /** Runs before each attempt, outside of the transaction, so that other requests see that it has begun. */
  begin(): Promise<void>;
  /** Runs before the write in the transaction. Its lock shows a repeated request that the first one still runs. */
  finishIn(session: ClientSession): Promise<void>;
  commit(): void;
}

export function turnsIn(
  { db, collection: { name } }: Pick<Document, "db" | "collection">,
): Pick<TransactionOptions, "connection" | "turn"> {
  return { connection: db, turn: `${db.name}.${name}` };
}

const MAX_ATTEMPTS = 20;

const FIRST_PAUSE_MS = 10;

const LONGEST_PAUSE_MS = 500;

const LARGE_TRANSACTION_CODES = new Set<unknown>([257, 388]);

const LOCKS = new Set<unknown>([24, 112]);

/**
 * The codes of transactions undone by a lock (24), a write conflict (112), an old or missing snapshot (239, 246), an
 * earlier statement (251), or another commit (267).
 */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([24, 112, 239, 246, 251, 267]);

export function isClash(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError &&
    error.hasErrorLabel("TransientTransactionError") && TRANSIENT_CODES.has(error.code);
}

/** The codes of a statement over its `maxTimeMS` (50), or a transaction over the limit of the server (290). */
const TOO_LONG = new Set<unknown>([50, 290]);

/** `writes` may run again. It should write contended documents last, because they stay locked until the commit ends. */
export async function inTransaction(
  options: TransactionOptions,
  writes: (session?: ClientSession) => Promise<unknown>,
): Promise<void> {
  const { connection, turn, isContended, timeBudget, isRequired = false, part } = options;
  const shared = sharedSession();
  if (shared !== undefined) {
    // The batch that shares the transaction decides about its end, so nothing is repeated here.
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
  // After a conflict, transactions run in turn, because one of many could lose every attempt.
  await takeTurns(options, async () => {
    for (let tries = 1;; tries++) {
      const failure = await attempt();
      if (failure === undefined) return;
      const reason = timeBudget.isLocked ? "locked" : "outage";
      if (tries < MAX_ATTEMPTS) await pauseBeforeRetry(tries);
      if (tries < MAX_ATTEMPTS && !timeBudget.expired) continue;
      throw new StoreFailure({ kind: "away", reason }, failure.cause);
    }
  });
}

/**
 * MongoDB sends the same error for a held lock, which a repeated request may survive, and for a committed change. A
 * trial in a second transaction, which never commits, fails only at a held lock.
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
    throw isLockError(failure) ? failure : error;
  });
  throw error;
}

/** A write that failed at a lock has written nothing, so it may be repeated. */
export function isLockError(error: unknown): boolean {
  return error instanceof StoreFailure && error.failure.kind === "away" &&
    error.failure.reason === "locked";
}

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
    if (LARGE_TRANSACTION_CODES.has(code)) {
      throw new StoreFailure({ kind: "largeTransaction" }, error);
    }
    if (TOO_LONG.has(code)) throw timeBudget.failure(error);
    if (!(error instanceof Transient)) throw error;
    if (isOverload(error.cause)) throw error.cause;
    timeBudget.isLocked = LOCKS.has(Object(error.cause).code);
    return error;
  }
}

export const STANDALONE =
  "the database is a standalone server without transactions; use a replica set";

export const NO_TRANSACTIONS: string = `${STANDALONE}, or "atomic: false"`;

class Transient extends Error {}

/** A `Transient` error keeps the driver from repeating the transaction for two minutes, even after the request. */
async function tryOnce(
  connection: Connection,
  writes: (session: ClientSession) => Promise<void>,
): Promise<void> {
  let begun = false;
  await connection.transaction(async (session) => {
    // The driver repeats the call after a failed commit. The error makes Mongoose reset the documents for the next
    // attempt.
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

/** Random pauses keep the same transactions from conflicting again. */
export function pauseBeforeRetry(tries: number): Promise<void> {
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

export function hasTurns(
  { connection }: Pick<TransactionOptions, "connection">,
  turn: () => string,
) {
  const { turns } = deploymentOf(connection.getClient());
  return turns.size > 0 && turns.has(turn());
}

export async function takeTurns<T>(
  { connection, turn, timeBudget }: TransactionOptions,
  work: () => Promise<T>,
): Promise<T> {
  // A shared transaction may hold a lock for which the earlier work waits, so both would wait forever.
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

import mongoose from "mongoose";
import type { ClientSession, Connection, Document, mongo } from "mongoose";
import { tooMuch, unavailable } from "../errors/refusals.ts";
import { sharedSession } from "../schema/mongoose/statements/transaction_around.ts";
import { isOverload } from "./overload.ts";
import type { TimeBudget } from "./time_budget.ts";

interface Deployment {
  hasTransactions?: Promise<boolean> | undefined;
  /**
   * The turns of transactions and writes, by name. Each promise resolves when the last turn of its name has ended, and
   * the next turn begins after that.
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
   * The name under which transactions of this process run one after the other, such as the name of a document or a
   * collection. Simultaneous transactions on the same data would conflict and have to be repeated.
   */
  readonly turn: string;
  /**
   * Whether the transaction waits for its turn before the first attempt, because a conflict is likely. Otherwise
   * transactions take turns only after two of them have met in a conflict.
   */
  readonly isContended?: boolean;
  readonly timeBudget: TimeBudget;
  /**
   * Whether a deployment without transactions causes an error. Otherwise the writes run on such a deployment without a
   * transaction, so a failure can leave some of them stored.
   */
  readonly isRequired?: boolean;
  /** The statements that the caller adds to the transaction, such as a record of the request. */
  readonly part?: TransactionPart | undefined;
}

/**
 * The statements that are stored exactly if the transaction commits, such as a record that the entities of a request
 * were created.
 */
export interface TransactionPart {
  /** Runs before each attempt of the transaction, outside of the transaction. */
  begin(): Promise<void>;
  /** Sends the statements in the transaction, before the other writes of the transaction. */
  finishIn(session: ClientSession): Promise<void>;
  /** Runs after the commit of the transaction. */
  commit(): void;
}

/**
 * Returns the options by which transactions on a collection run one after the other, as soon as two of them have
 * conflicted.
 */
export function turnsIn(
  { db, collection: { name } }: Pick<Document, "db" | "collection">,
): Pick<TransactionOptions, "connection" | "turn"> {
  return { connection: db, turn: `${db.name}.${name}` };
}

const MAX_ATTEMPTS = 20;

const FIRST_PAUSE_MS = 10;

const LONGEST_PAUSE_MS = 500;

/** The server's error codes for a transaction that is too large. The answer is a 413. */
const TOO_LARGE = new Set<unknown>([257, 388]);

/**
 * The server's error codes for a document or a collection that another transaction has locked. A 503 after such an
 * error says that the data is locked.
 */
const LOCKS = new Set<unknown>([24, 112]);

/**
 * The server's error codes for a statement that exceeded its `maxTimeMS`, and for a transaction that exceeded the time
 * limit of the server. The answer is a 503, without another attempt.
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
    await writes(shared);
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
  // Transactions take turns after the first conflict, and so do transactions that begin during these turns. Without
  // turns, one of many transactions could lose every attempt to the others.
  await takeTurns(options, async () => {
    for (let tries = 1;; tries++) {
      const failure = await attempt();
      if (failure === undefined) return;
      const { isLocked } = timeBudget;
      if (tries === MAX_ATTEMPTS) throw unavailable(failure.cause, { isLocked });
      await pause(tries);
      if (timeBudget.expired) throw unavailable(failure.cause, { isLocked });
    }
  });
}

/**
 * Makes one attempt of a transaction. Returns the error if another attempt may succeed, so that the caller decides
 * about it. Returns `undefined` after a success.
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
    if (TOO_LARGE.has(code)) throw tooMuch(error);
    if (TOO_LONG.has(code)) throw unavailable(error, timeBudget);
    if (!(error instanceof Transient)) throw error;
    if (isOverload(error.cause)) throw error.cause;
    timeBudget.isLocked = LOCKS.has(Object(error.cause).code);
    return error;
  }
}

/** The end of error messages about missing transactions. */
export const STANDALONE =
  "the database is a standalone server without transactions; use a replica set";

/** The end of error messages about missing transactions, for operations that have the option `atomic`. */
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
    // The driver calls this function again after a failed commit. The error ends this attempt, and lets Mongoose reset
    // the documents for the next attempt.
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

/** Whether work under the given name is running or waiting, so that new work under this name must wait for its turn. */
export function hasTurns(
  { connection }: Pick<TransactionOptions, "connection">,
  turn: () => string,
) {
  const { turns } = deploymentOf(connection.getClient());
  return turns.size > 0 && turns.has(turn());
}

/**
 * Runs the work of a request after all earlier work under the same name has ended. Throws a 503 if the time limit of
 * the request passes before the work begins.
 */
export async function takeTurns<T>(
  { connection, turn, timeBudget }: TransactionOptions,
  work: () => Promise<T>,
): Promise<T> {
  // A request in a shared transaction already has locks. A request with a turn could wait for these locks, so the
  // request in the shared transaction does not wait for a turn.
  if (sharedSession() !== undefined) return await timeBudget.wait(work());
  const { turns } = deploymentOf(connection.getClient());
  const before = turns.get(turn);
  const run = async () => {
    timeBudget.isLocked = before !== undefined;
    await before;
    if (timeBudget.expired) throw unavailable(undefined, timeBudget);
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

import mongoose from "mongoose";
import type { ClientSession, Connection, Document, mongo } from "mongoose";
import { tooMuch, unavailable } from "../errors/refusals.ts";
import type { TimeBudget } from "./time_budget.ts";

interface Deployment {
  hasTransactions?: Promise<boolean> | undefined;
  /** The ends of the last turns, by name. */
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
  /** Names the document or the collection on which transactions of this process take turns. */
  readonly turn: string;
  /** Whether they do so from the first one on, and not only when two of them have met. */
  readonly isContended?: boolean;
  readonly timeBudget: TimeBudget;
  /** Whether nothing is written where the deployment has no transactions. */
  readonly isRequired?: boolean;
  /** The key with which a client repeats the request. Its record is a part of the transaction. */
  readonly key?: TransactionKey | undefined;
}

/** The record of a key, as far as a transaction writes it. */
export interface TransactionKey {
  /** Notes that a transaction is about to begin. */
  begin(): Promise<void>;
  /** Notes in the transaction that its entities are created. */
  finishIn(session: ClientSession): Promise<void>;
  /** Takes note of the commit. */
  commit(): void;
}

/** Has the transactions on a collection take turns when two of them have met. */
export function turnsIn(
  { db, collection: { name } }: Pick<Document, "db" | "collection">,
): Pick<TransactionOptions, "connection" | "turn"> {
  return { connection: db, turn: `${db.name}.${name}` };
}

const MAX_ATTEMPTS = 20;

const FIRST_PAUSE_MS = 10;

const LONGEST_PAUSE_MS = 500;

/** The server's codes for a transaction that is too large. */
const TOO_LARGE = new Set<unknown>([257, 388]);

/** The server's codes for a document or a collection that another transaction has locked. */
const LOCKS = new Set<unknown>([24, 112]);

/** The server's codes for what has taken longer than its `maxTimeMS`, or than any transaction may take. */
const TOO_LONG = new Set<unknown>([50, 290]);

/**
 * Runs writes in one transaction where the deployment has transactions, else one after the other.
 *
 * @param writes It runs again after a transient failure. It should write the contended document last.
 */
export async function inTransaction(
  options: TransactionOptions,
  writes: (session?: ClientSession) => Promise<void>,
): Promise<void> {
  const { connection, turn, isContended, timeBudget, isRequired = false } = options;
  if (!await hasTransactions(connection.getClient())) {
    if (isRequired) throw new Error(`Cannot write all or nothing: ${NO_TRANSACTIONS}`);
    return await writes();
  }
  timeBudget.isLong = isRequired;
  const attempt = () => attemptOnce(options, writes);
  const waits = isContended || deploymentOf(connection.getClient()).turns.has(turn);
  if (!waits && await timeBudget.wait(attempt()) === undefined) return;
  // Those that have met take turns, and all that come meanwhile: one of many would lose to others, again and again.
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

/** Runs a transaction once. Returns the failure after which it may run again. */
async function attemptOnce(
  { connection, timeBudget, key }: TransactionOptions,
  writes: (session: ClientSession) => Promise<void>,
): Promise<Transient | undefined> {
  try {
    await key?.begin();
    await tryOnce(connection, async (session) => {
      await key?.finishIn(session);
      await writes(session);
    });
    key?.commit();
    timeBudget.isLocked = false;
  } catch (error) {
    const { code } = Object(error);
    if (TOO_LARGE.has(code)) throw tooMuch(error);
    if (TOO_LONG.has(code)) throw unavailable(error, timeBudget);
    if (!(error instanceof Transient)) throw error;
    timeBudget.isLocked = LOCKS.has(Object(error.cause).code);
    return error;
  }
}

/** The way to transactions, for the messages that name who needs them. */
export const NO_TRANSACTIONS =
  `the database is a standalone server without transactions; use a replica set, or "atomic: false"`;

class Transient extends Error {}

/** Runs a transaction once. The driver would repeat it for two minutes, even after the request has ended. */
async function tryOnce(
  connection: Connection,
  writes: (session: ClientSession) => Promise<void>,
): Promise<void> {
  let begun = false;
  await connection.transaction(async (session) => {
    // The driver calls again after a failed commit. An error makes Mongoose reset the documents.
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

/** Waits for a random time, so that the same transactions do not meet again. */
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

/** Whether work of this process takes turns by a name. */
export function hasTurns(
  { connection }: Pick<TransactionOptions, "connection">,
  turn: () => string,
) {
  const { turns } = deploymentOf(connection.getClient());
  return turns.size > 0 && turns.has(turn());
}

/** Runs work after all earlier work on the same document, but never once its time is up: that is a 503. */
export async function takeTurns<T>(
  { connection, turn, timeBudget }: TransactionOptions,
  work: () => Promise<T>,
): Promise<T> {
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

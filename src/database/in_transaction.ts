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
  const attempt = async () => {
    try {
      await tryOnce(connection, writes);
    } catch (error) {
      const { code } = Object(error);
      if (TOO_LARGE.has(code)) throw tooMuch(error);
      if (TOO_LONG.has(code)) throw unavailable(error, timeBudget);
      if (error instanceof Transient) return error;
      throw error;
    }
  };
  const waits = isContended || deploymentOf(connection.getClient()).turns.has(turn);
  if (!waits && await timeBudget.wait(attempt()) === undefined) return;
  // Those that have met take turns, and all that come meanwhile: one of many would lose to others, again and again.
  await takeTurns(options, async () => {
    for (let tries = 1;; tries++) {
      const failure = await attempt();
      if (failure === undefined) return;
      if (tries === MAX_ATTEMPTS) throw unavailable(failure.cause);
      await pause(tries);
      if (timeBudget.expired) throw unavailable(failure.cause);
    }
  });
}

/** Runs a write of several documents in a transaction. One needs none, and a hook may have begun its own. */
export function allOrNone(
  [first, ...others]: readonly Document[],
  timeBudget: TimeBudget,
): (write: (session?: ClientSession) => Promise<void>) => Promise<void> {
  const session = first?.$session() ?? undefined;
  if (first === undefined || others.length === 0 || session?.inTransaction()) {
    return (write) => write(session);
  }
  const transaction = { ...turnsIn(first), timeBudget, isRequired: true };
  return (write) => inTransaction(transaction, write);
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

function hasTransactions(client: mongo.MongoClient): Promise<boolean> {
  const deployment = deploymentOf(client);
  return deployment.hasTransactions ??= client.db("admin").command({ hello: 1 }).then(
    (hello) => hello.setName !== undefined || hello.msg === "isdbgrid",
    (error) => {
      deployment.hasTransactions = undefined;
      throw error;
    },
  );
}

/** Runs work after all earlier work on the same document, but never once its time is up: that is a 503. */
export async function takeTurns<T>(
  { connection, turn, timeBudget }: TransactionOptions,
  work: () => Promise<T>,
): Promise<T> {
  const { turns } = deploymentOf(connection.getClient());
  const before = turns.get(turn);
  const run = async () => {
    await before;
    if (timeBudget.expired) throw unavailable();
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

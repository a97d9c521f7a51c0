import mongoose from "mongoose";
import type { ClientSession, Connection } from "mongoose";
import { unavailable } from "../errors/refusals.ts";
import type { Patience } from "./patience.ts";
import { takeTurns } from "./take_turns.ts";

const support = new WeakMap<object, Promise<boolean>>();

/** What a transaction is run with. */
export interface TransactionOptions {
  /** The connection of all that it writes. */
  readonly connection: Connection;
  /** Names the document that others may write at the same time: transactions on it take turns in this process. */
  readonly contended: string;
  /** Bounds all tries together. */
  readonly patience: Patience;
}

/** How often a transaction is tried: others, in other processes, may write the same document. */
const MOST_TRIES = 20;

/** The longest pause before the second try; it doubles from try to try. */
const FIRST_PAUSE_MS = 10;

/** The longest pause before any try. */
const LONGEST_PAUSE_MS = 500;

/**
 * Runs writes in one transaction where the deployment has transactions, else one after the other.
 *
 * @param writes Gets the session, `undefined` where there is no transaction. Runs again after a transient failure, and
 * gives up without a word when the time is over: the contended document has to be written first.
 * @throws {RestError} 503 if it fails in every try, or the time is over.
 */
export async function inTransaction(
  { connection, contended, patience }: TransactionOptions,
  writes: (session?: ClientSession) => Promise<void>,
): Promise<void> {
  const owner = connection.getClient();
  if (!await hasTransactions(connection, owner)) return await writes();
  await takeTurns({ owner, name: contended, patience }, async () => {
    for (let tries = 1;; tries++) {
      try {
        return await tryOnce(connection, writes);
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        if (tries === MOST_TRIES) throw unavailable(error.cause);
        await pause(tries);
        if (patience.expired) throw unavailable(error.cause);
      }
    }
  });
}

/** A failure after which a transaction may run again. */
class Transient extends Error {}

/** Runs a transaction once: the driver would run it again for two minutes, whoever still waits for it. */
async function tryOnce(
  connection: Connection,
  writes: (session: ClientSession) => Promise<void>,
): Promise<void> {
  let begun = false;
  await connection.transaction(async (session) => {
    // The commit has failed. Thrown in here, it has Mongoose reset the documents.
    if (begun) throw new Transient();
    begun = true;
    try {
      await writes(session);
    } catch (error) {
      throw isTransient(error) ? new Transient("Again", { cause: error }) : error;
    }
  });
}

function isTransient(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError &&
    error.hasErrorLabel("TransientTransactionError");
}

/** Waits for a random time, so that those who met do not meet again. */
function pause(tries: number): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}

/** Asks a deployment, once, whether it is a replica set or a sharded cluster. */
function hasTransactions(connection: Connection, client: object): Promise<boolean> {
  let known = support.get(client);
  if (known === undefined) {
    known = askDeployment(connection);
    support.set(client, known);
    known.catch(() => support.delete(client));
  }
  return known;
}

async function askDeployment(connection: Connection): Promise<boolean> {
  const hello = await connection.db?.admin().command({ hello: 1 });
  return hello?.setName !== undefined || hello?.msg === "isdbgrid";
}

import mongoose from "mongoose";
import type { ClientSession, Connection, mongo } from "mongoose";
import { unavailable } from "../errors/refusals.ts";
import type { TimeBudget } from "./time_budget.ts";

const support = new WeakMap<mongo.MongoClient, Promise<boolean>>();

export interface TransactionOptions {
  readonly connection: Connection;
  /** Names the document that others may write too: transactions on it take turns in this process. */
  readonly contended: string;
  readonly timeBudget: TimeBudget;
}

const MAX_ATTEMPTS = 20;

const FIRST_PAUSE_MS = 10;

const LONGEST_PAUSE_MS = 500;

/**
 * Runs writes in one transaction where the deployment has transactions, else one after the other.
 *
 * @param writes Gets the session, `undefined` where there is no transaction. It runs again after a transient failure, so
 * it has to write the contended document first.
 * @throws {RestError} 503 if every try fails, or the time is up.
 */
export async function inTransaction(
  { connection, contended, timeBudget }: TransactionOptions,
  writes: (session?: ClientSession) => Promise<void>,
): Promise<void> {
  const owner = connection.getClient();
  if (!await hasTransactions(owner)) return await writes();
  await takeTurns({ owner, name: contended, timeBudget }, async () => {
    for (let tries = 1;; tries++) {
      try {
        return await tryOnce(connection, writes);
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        if (tries === MAX_ATTEMPTS) throw unavailable(error.cause);
        await pause(tries);
        if (timeBudget.expired) throw unavailable(error.cause);
      }
    }
  });
}

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
      throw isTransient(error) ? new Transient("Again", { cause: error }) : error;
    }
  });
}

function isTransient(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoError &&
    error.hasErrorLabel("TransientTransactionError");
}

/** Waits for a random time, so that the same transactions do not meet again. */
function pause(tries: number): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest));
}

/** Whether a deployment has transactions. It is asked once, and again when its servers change. */
function hasTransactions(client: mongo.MongoClient): Promise<boolean> {
  const known = support.get(client);
  if (known !== undefined) return known;
  const asked = askDeployment(client);
  support.set(client, asked);
  const forget = () => {
    support.delete(client);
    client.off("topologyDescriptionChanged", forget);
  };
  client.on("topologyDescriptionChanged", forget);
  asked.catch(forget);
  return asked;
}

async function askDeployment(client: mongo.MongoClient): Promise<boolean> {
  const hello = await client.db("admin").command({ hello: 1 });
  return hello.setName !== undefined || hello.msg === "isdbgrid";
}

/** The ends of the last turns, by name, for each owner. */
const queues = new WeakMap<object, Map<string, Promise<void>>>();

interface Turn {
  /** An object, such as a client, to which names belong. */
  readonly owner: object;
  readonly name: string;
  readonly timeBudget: TimeBudget;
}

/** Runs work after all earlier work of the same name, but never once its time is up: that is a 503. */
export async function takeTurns<T>(
  { owner, name, timeBudget }: Turn,
  work: () => Promise<T>,
): Promise<T> {
  let queue = queues.get(owner);
  if (queue === undefined) queues.set(owner, queue = new Map());
  const before = queue.get(name);
  const run = async () => {
    await before;
    if (timeBudget.expired) throw unavailable();
    return await timeBudget.wait(work());
  };
  const result = run();
  const done = result.then(() => {}, () => {});
  queue.set(name, done);
  done.then(() => {
    if (queue.get(name) === done) queue.delete(name);
  });
  return await timeBudget.wait(result);
}

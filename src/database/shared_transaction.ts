import type { ClientSession, Connection, Model, mongo } from "mongoose";
import { type Failure, StoreFailure } from "../errors/failure.ts";
import { awaitBuilds } from "../schema/build_waits.ts";
import {
  joinTransactions,
  runInTransaction,
  runOutside,
  type TransactionAround,
  transactionAround,
} from "../schema/mongoose/statements/transaction_around.ts";
import { hasTransactions, isClash, pause, STANDALONE } from "./in_transaction.ts";
import { isOverload } from "./overload.ts";
import type { TimeBudget } from "./time_budget.ts";

const MAX_COMMITS = 5;

/** A filter that selects no entity, for statements whose result is not needed. */
const NOTHING = { _id: { $in: [] } };

/**
 * The clients whose driver has passed the check that its statements join a transaction. The check runs once for each
 * client.
 */
const joining = new WeakSet<mongo.MongoClient>();

/**
 * A transaction that several requests share, such as the requests of a batch. It begins when the first of them needs a
 * connection, because a function of the application may choose the connection of a request.
 */
class SharedTransaction {
  state: "open" | "done" | "undone" = "open";
  session?: ClientSession | undefined;
  client?: mongo.MongoClient | undefined;
  joined = 0;
  metBuilds = false;
  #begun: Promise<void> | undefined;
  #committed: Promise<void> | undefined;

  /**
   * Waits for the index builds of the connection of a model, and begins the transaction on this connection. If
   * the transaction has begun already, throws for a connection of another MongoDB client.
   */
  async join(model: Model<unknown>): Promise<void> {
    // A hook may go on after the time limit, when the transaction has been undone already. Its request then fails.
    if (this.state !== "open") throw new StoreFailure({ kind: "away", reason: "outage" });
    // Another `getConnection` can lead to classes whose collections are made only now.
    const hasBegun = this.#begun !== undefined;
    if (await awaitBuilds(model.db as Connection) && hasBegun) this.metBuilds = true;
    const client = model.db.getClient();
    this.client ??= client;
    if (this.client !== client) {
      throw new StoreFailure({ kind: "severalDatabases" });
    }
    await (this.#begun ??= this.#begin(model, client));
  }

  /**
   * Begins the transaction by an empty read. A request may send its first statements at the same time, and MongoDB
   * would refuse a statement that arrives before the statement that begins the transaction.
   */
  async #begin({ collection, db }: Model<unknown>, client: mongo.MongoClient): Promise<void> {
    if (!await runOutside(() => hasTransactions(client))) {
      throw new TypeError(`Cannot run requests in one transaction: ${STANDALONE}`);
    }
    if (this.state !== "open") throw new StoreFailure({ kind: "away", reason: "outage" });
    joinTransactions(client);
    const session = client.startSession();
    session.startTransaction({ readPreference: "primary" });
    this.session = session;
    await collection.findOne(NOTHING);
    if (joining.has(client)) return;
    // Whether the statements of the driver join the transaction must be tested twice, because the driver gets the
    // session of a cursor and of any other statement in different functions. The read above has opened a cursor, and
    // this command opens none. The command is a `find`, because a sharded cluster would refuse `distinct` in a
    // transaction.
    const find = { find: collection.collectionName, filter: NOTHING, limit: 1, singleBatch: true };
    await client.db(db.name).command(find, { readPreference: "primary" });
    if (this.joined < 2) {
      throw new TypeError("Cannot run requests in one transaction: the driver does not join it");
    }
    joining.add(client);
  }

  commit(): Promise<void> {
    // A hook may have started work for which it does not wait. Statements of this work after the commit run without the
    // transaction, because the state is `done`.
    this.state = "done";
    return this.#committed = this.#commit();
  }

  async #commit(): Promise<void> {
    for (let tries = 1;; tries++) {
      try {
        return await this.session?.commitTransaction();
      } catch (error) {
        const isUnknown = (error as mongo.MongoError).hasErrorLabel?.(UNKNOWN) === true;
        if (!isUnknown || isOverload(error) || tries === MAX_COMMITS) throw error;
        await pause(tries);
      }
    }
  }

  /** Undoes the transaction, unless its commit has begun. Statements that hooks send after that are refused. */
  async end(): Promise<void> {
    if (this.state === "open") this.state = "undone";
    await this.#committed?.catch(() => {});
    if (this.state === "undone") await this.#stop();
    // The end of a session also undoes its open transaction.
    await this.session?.endSession().catch(() => {});
  }

  /**
   * Stops the statement that is running in the transaction, because the transaction would keep its locks until the
   * statement has ended.
   */
  async #stop(): Promise<void> {
    const { client, session } = this;
    if (client === undefined || session?.id === undefined) return;
    const killSessions = [session.id];
    await runOutside(() => client.db("admin").command({ killSessions })).catch(() => {});
  }
}

/**
 * The label of the error for a commit that may have succeeded, for example if the connection broke. The commit is sent
 * again, which is safe, because a transaction is committed only once.
 */
const UNKNOWN = "UnknownTransactionCommitResult";

/**
 * Runs work whose statements belong to one transaction, also the statements of hooks. The transaction is committed
 * after the work, or undone if the work fails or takes longer than the time limit. The work runs only once.
 */
export async function inSharedTransaction<T>(
  timeBudget: TimeBudget,
  work: () => Promise<T>,
): Promise<T> {
  const transaction = new SharedTransaction();
  try {
    const result = await timeBudget.wait(runInTransaction(transaction, work));
    await timeBudget.wait(transaction.commit()).catch((error) => {
      throw isClash(error) ? new StoreFailure(clashOf(transaction), error) : error;
    });
    return result;
  } finally {
    // The end of the transaction is awaited, so that a client that repeats its refused requests meets no locks of it.
    await timeBudget.wait(transaction.end()).catch(() => {});
  }
}

/**
 * Returns the failure of a shared transaction that was undone by a conflict. If it has met index builds, no other
 * request has changed anything, and the client can repeat the request.
 */
export function clashOf({ metBuilds }: TransactionAround): Failure {
  return metBuilds ? { kind: "away", reason: "locked" } : { kind: "changed" };
}

/**
 * Lets the statements of a request join the transaction that it shares with other requests. Returns `undefined` if the
 * request shares none, so that such a request does not wait.
 */
export function joinShared(model: () => Model<unknown>): Promise<void> | undefined {
  const shared = transactionAround();
  return shared instanceof SharedTransaction ? shared.join(model()) : undefined;
}

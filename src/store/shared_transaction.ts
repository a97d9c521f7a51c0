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
import { hasTransactions, isClash, pauseBeforeRetry, STANDALONE } from "./in_transaction.ts";
import { isOverload } from "./overload.ts";
import type { TimeBudget } from "./time_budget.ts";

const MAX_COMMITS = 5;

const NOTHING = { _id: { $in: [] } };

const joining = new WeakSet<mongo.MongoClient>();

/** The transaction begins with the first statement, because only then is the connection known. */
class SharedTransaction {
  state: "open" | "done" | "undone" = "open";
  session?: ClientSession | undefined;
  client?: mongo.MongoClient | undefined;
  joined = 0;
  metBuilds = false;
  #begun: Promise<void> | undefined;
  #committed: Promise<void> | undefined;

  async join(model: Model<unknown>): Promise<void> {
    // A hook may go on after the transaction was undone at the time limit.
    if (this.state !== "open") throw new StoreFailure({ kind: "away", reason: "outage" });
    // Index builds of another connection may begin after the transaction, and cause a conflict. `metBuilds` tells this
    // conflict from changes by other requests.
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
   * An empty read begins the transaction, because MongoDB refuses concurrent statements that arrive before the first.
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
    // The driver gives sessions to cursors and to other statements in two functions. `findOne()` has tested the first,
    // and this `find` without a cursor tests the second. A sharded cluster would refuse `distinct`.
    const find = { find: collection.collectionName, filter: NOTHING, limit: 1, singleBatch: true };
    await client.db(db.name).command(find, { readPreference: "primary" });
    if (this.joined < 2) {
      throw new TypeError("Cannot run requests in one transaction: the driver does not join it");
    }
    joining.add(client);
  }

  commit(): Promise<void> {
    // After the commit, statements for which a hook did not wait run outside of the transaction, instead of failing.
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
        await pauseBeforeRetry(tries);
      }
    }
  }

  /** Undoes the transaction, unless its commit has begun. Later statements of hooks are refused. */
  async end(): Promise<void> {
    if (this.state === "open") this.state = "undone";
    await this.#committed?.catch(() => {});
    if (this.state === "undone") await this.#stop();
    // The end of a session also undoes its open transaction.
    await this.session?.endSession().catch(() => {});
  }

  /** A running statement would keep the locks of the transaction, so it is stopped. */
  async #stop(): Promise<void> {
    const { client, session } = this;
    if (client === undefined || session?.id === undefined) return;
    const killSessions = [session.id];
    await runOutside(() => client.db("admin").command({ killSessions })).catch(() => {});
  }
}

/** A commit with this label may have succeeded, and can safely be sent again. */
const UNKNOWN = "UnknownTransactionCommitResult";

/** The work runs only once. After a conflict, the client has to repeat its request. */
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
    // A repeated request must meet no locks of this transaction.
    await timeBudget.wait(transaction.end()).catch(() => {});
  }
}

/** If an index build, and no other request, has caused the conflict, the client may simply repeat its request. */
export function clashOf({ metBuilds }: TransactionAround): Failure {
  return metBuilds ? { kind: "away", reason: "locked" } : { kind: "changed" };
}

/** Returns no promise without a shared transaction, so that the request does not wait. */
export function joinShared(model: () => Model<unknown>): Promise<void> | undefined {
  const shared = transactionAround();
  return shared instanceof SharedTransaction ? shared.join(model()) : undefined;
}

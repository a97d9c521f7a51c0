import { AsyncLocalStorage } from "node:async_hooks";
import mongoose from "mongoose";
import type { ClientSession, mongo } from "mongoose";

/** The transaction of a batch. It contains all statements in the asynchronous context of a request, also of hooks. */
export interface TransactionAround {
  readonly session?: ClientSession | undefined;
  readonly client?: mongo.MongoClient | undefined;
  /**
   * Statements after `done` are sent without the transaction, and after `undone`, refused.
   */
  readonly state: "open" | "done" | "undone";
  /** `true` if an index build ran beside the transaction: MongoDB may report a conflict with it. */
  readonly metBuilds: boolean;
  /**
   * Counts statements in the transaction. If two test statements do not raise it, the driver would send writes outside
   * of the transaction, so the batch is refused.
   */
  joined: number;
}

const storage = new AsyncLocalStorage<TransactionAround | undefined>();

export function transactionAround(): TransactionAround | undefined {
  return storage.getStore();
}

export function runInTransaction<T>(transaction: TransactionAround, work: () => T): T {
  return storage.run(transaction, work);
}

/** Runs work such as index builds, which MongoDB allows in no transaction. */
export function runOutside<T>(work: () => T): T {
  return storage.getStore() === undefined ? work() : storage.run(undefined, work);
}

/** Throws after the transaction was undone, because a write without a session would be stored. */
export function sharedSession(): ClientSession | undefined {
  const { session, state } = storage.getStore() ?? {};
  if (state === "undone") {
    throw new mongoose.mongo.MongoAPIError(
      "Cannot send a statement: the transaction of its request was undone",
    );
  }
  return state === "open" ? session : undefined;
}

export function applicationSession(): ClientSession | undefined {
  return (mongoose as ApplicationTransaction).transactionAsyncLocalStorage?.getStore()?.session;
}

interface ApplicationTransaction {
  readonly transactionAsyncLocalStorage?: {
    getStore(): { readonly session?: ClientSession } | undefined;
  };
}

const joining = new WeakSet<mongo.MongoClient>();

/** The driver calls one of these methods for each statement without a session, so statements of hooks join too. */
export function joinTransactions(client: mongo.MongoClient): void {
  if (joining.has(client)) return;
  joining.add(client);
  const { startSession, withSession } = client;
  const joined = (options: SessionOptions | undefined) => {
    const around = storage.getStore();
    const isOfStatement = options?.explicit === false && around?.client === client;
    if (!isOfStatement || around.session === undefined || around.state === "done") return undefined;
    around.joined++;
    return sharedSession();
  };
  client.startSession = (options?: SessionOptions) => {
    const session = joined(options);
    if (!session) return startSession.call(client, options);
    // MongoDB refuses reads from a secondary in a transaction.
    options?.owner?.withReadPreference?.("primary");
    return session;
  };
  // The driver sends a bulk by `withSession()`, which would end the session of the transaction.
  client.withSession = ((...given: SessionArguments) => {
    const [options, work] = given.length === 1 ? [undefined, given[0]] : given;
    const session = joined(options);
    return session ? work(session) : Reflect.apply(withSession, client, given);
  }) as typeof withSession;
}

/** `explicit` is `false` for a session that the driver starts for one statement. */
interface SessionOptions extends mongo.ClientSessionOptions {
  readonly explicit?: boolean;
  readonly owner?: { withReadPreference?(mode: "primary"): unknown };
}

type SessionWork = (session: ClientSession) => Promise<unknown>;

type SessionArguments = [work: SessionWork] | [options: SessionOptions, work: SessionWork];

import { AsyncLocalStorage } from "node:async_hooks";
import mongoose from "mongoose";
import type { ClientSession, mongo } from "mongoose";

/**
 * A transaction that several requests share, such as the requests of a batch. All statements that run in its
 * asynchronous context belong to it, including statements of hooks.
 */
export interface TransactionAround {
  /**
   * The session of the shared transaction, and the MongoDB client of the session. Both are missing until the
   * transaction has begun.
   */
  readonly session?: ClientSession | undefined;
  readonly client?: mongo.MongoClient | undefined;
  /**
   * The state of the transaction. Statements after `done` are sent without the transaction, and statements after
   * `undone` are refused.
   */
  readonly state: "open" | "done" | "undone";
  /** Whether index builds were awaited after the transaction had begun, which MongoDB may report as a conflict. */
  readonly metBuilds: boolean;
  /**
   * The number of statements that have joined the transaction. The framework first sends two statements only to test
   * this number. If fewer than two have joined, the driver does not call the methods that the framework has replaced,
   * and the transaction is refused.
   */
  joined: number;
}

const storage = new AsyncLocalStorage<TransactionAround | undefined>();

/** Returns the transaction that the requests of a batch share. Returns `undefined` if the caller runs in no batch. */
export function transactionAround(): TransactionAround | undefined {
  return storage.getStore();
}

/**
 * Runs a function whose statements join a transaction that several requests share, such as the requests of a batch.
 * Statements of hooks join the transaction as well.
 */
export function runInTransaction<T>(transaction: TransactionAround, work: () => T): T {
  return storage.run(transaction, work);
}

/**
 * Runs work whose statements do not belong to the transaction around the request, such as the build of an index, which
 * no transaction allows.
 */
export function runOutside<T>(work: () => T): T {
  return storage.getStore() === undefined ? work() : storage.run(undefined, work);
}

/**
 * Returns the session of the transaction that the requests of a batch share. Returns `undefined` outside of a batch,
 * and after the commit of the transaction. Throws after the transaction was undone, because a write that found no
 * session would be stored in another transaction.
 */
export function sharedSession(): ClientSession | undefined {
  const { session, state } = storage.getStore() ?? {};
  if (state === "undone") {
    throw new mongoose.mongo.MongoAPIError(
      "Cannot send a statement: the transaction of its request was undone",
    );
  }
  return state === "open" ? session : undefined;
}

/**
 * Returns the session of a transaction that the application runs around a request by Mongoose's option
 * `transactionAsyncLocalStorage`.
 */
export function applicationSession(): ClientSession | undefined {
  return (mongoose as ApplicationTransaction).transactionAsyncLocalStorage?.getStore()?.session;
}

/**
 * Mongoose's storage for the session of a transaction that the application runs around a request. The storage exists
 * only if the application has enabled this option of Mongoose.
 */
interface ApplicationTransaction {
  readonly transactionAsyncLocalStorage?: {
    getStore(): { readonly session?: ClientSession } | undefined;
  };
}

const joining = new WeakSet<mongo.MongoClient>();

/**
 * Lets the statements of a client join the transaction in whose context they are sent. The driver calls
 * `startSession()` or `withSession()` of the client for each statement that has no session, so these methods are
 * replaced. With sessions as arguments, a statement of the framework could forget its session, and statements of hooks
 * would have none.
 */
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
    // MongoDB refuses reads from a secondary in a transaction, so the read preference of a hook or of the connection is
    // replaced.
    options?.owner?.withReadPreference?.("primary");
    return session;
  };
  // The driver sends a bulk of writes by `withSession()`, which ends its session afterwards. For statements of the
  // transaction, `withSession()` is therefore replaced by a call with the session of the transaction, which stays open.
  client.withSession = ((...given: SessionArguments) => {
    const [options, work] = given.length === 1 ? [undefined, given[0]] : given;
    const session = joined(options);
    return session ? work(session) : Reflect.apply(withSession, client, given);
  }) as typeof withSession;
}

/**
 * The options of `startSession()`. The driver sets `explicit` to `false` if it starts a session for a statement without
 * a session, and only such a statement joins a transaction.
 */
interface SessionOptions extends mongo.ClientSessionOptions {
  readonly explicit?: boolean;
  /** The cursor of a read, if the statement opens a cursor. */
  readonly owner?: { withReadPreference?(mode: "primary"): unknown };
}

type SessionWork = (session: ClientSession) => Promise<unknown>;

type SessionArguments = [work: SessionWork] | [options: SessionOptions, work: SessionWork];

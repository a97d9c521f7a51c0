import { AsyncLocalStorage } from "node:async_hooks";
import mongoose from "mongoose";
import type { ClientSession, mongo } from "mongoose";

/**
 * A transaction that several requests share. All statements in its asynchronous context belong to it, including
 * statements of hooks.
 */
export interface TransactionAround {
  /** Both are missing until the transaction has begun. */
  readonly session?: ClientSession | undefined;
  readonly client?: mongo.MongoClient | undefined;
  /** Statements after `done` are sent without the transaction, and statements after `undone` are refused. */
  readonly state: "open" | "done" | "undone";
  /** Whether index builds were awaited after the transaction had begun, which MongoDB may report as a conflict. */
  readonly metBuilds: boolean;
  /**
   * The number of statements that have joined. Two statements are first sent only to test it, and if fewer have joined,
   * the driver does not call the replaced methods and the transaction is refused.
   */
  joined: number;
}

const storage = new AsyncLocalStorage<TransactionAround | undefined>();

/** `undefined` outside of a batch. */
export function transactionAround(): TransactionAround | undefined {
  return storage.getStore();
}

/** Statements of hooks join the transaction as well. */
export function runInTransaction<T>(transaction: TransactionAround, work: () => T): T {
  return storage.run(transaction, work);
}

/** For work that no transaction allows, such as the build of an index. */
export function runOutside<T>(work: () => T): T {
  return storage.getStore() === undefined ? work() : storage.run(undefined, work);
}

/**
 * `undefined` outside of a batch, and after the commit. Throws after the transaction was undone, because a write that
 * found no session would be stored in another transaction.
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
 * The session of a transaction that the application runs around a request, by Mongoose's option
 * `transactionAsyncLocalStorage`.
 */
export function applicationSession(): ClientSession | undefined {
  return (mongoose as ApplicationTransaction).transactionAsyncLocalStorage?.getStore()?.session;
}

/** The storage exists only if the application has enabled this option of Mongoose. */
interface ApplicationTransaction {
  readonly transactionAsyncLocalStorage?: {
    getStore(): { readonly session?: ClientSession } | undefined;
  };
}

const joining = new WeakSet<mongo.MongoClient>();

/**
 * The driver calls `startSession()` or `withSession()` for each statement that has no session, so these methods are
 * replaced. With sessions as arguments, a statement could forget its session, and statements of hooks would have none.
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
  // The driver sends a bulk of writes by `withSession()`, which ends its session afterwards. The session of the
  // transaction stays open.
  client.withSession = ((...given: SessionArguments) => {
    const [options, work] = given.length === 1 ? [undefined, given[0]] : given;
    const session = joined(options);
    return session ? work(session) : Reflect.apply(withSession, client, given);
  }) as typeof withSession;
}

/**
 * The driver sets `explicit` to `false` if it starts a session for a statement without a session, and only such a
 * statement joins a transaction.
 */
interface SessionOptions extends mongo.ClientSessionOptions {
  readonly explicit?: boolean;
  /** The cursor of a read. */
  readonly owner?: { withReadPreference?(mode: "primary"): unknown };
}

type SessionWork = (session: ClientSession) => Promise<unknown>;

type SessionArguments = [work: SessionWork] | [options: SessionOptions, work: SessionWork];

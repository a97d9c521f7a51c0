import type { Connection, Model, mongo } from "mongoose";
import { clearTimeout, setTimeout } from "node:timers";
import { logHint } from "../errors/log.ts";
import { StoreFailure } from "../errors/failure.ts";
import { isObjectId } from "../schema/mongoose/bson.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { WITHOUT_TOUCHES } from "./touch.ts";
import { isUnavailable } from "./failure_of.ts";
import type { TimeBudget } from "./time_budget.ts";

/**
 * The identifiers of changed entities, in the types in which they are stored. `"anything"` means that any entity of the
 * collection may have changed, so that live lists must read everything again.
 */
export type Changes = readonly unknown[] | "anything";

type ChangeListener = (changes: Changes) => void;

const GATHER_MS = 50;

/**
 * The time for which a change feed without listeners keeps its change stream open. A client that reconnects within this
 * time does not wait for a new stream.
 */
const GRACE_MS = 10_000;

const PAUSE_MS = 500;

/**
 * The aggregation stages of a change stream. The first stage leaves out events that change no value. The second
 * stage reduces each event to its resume token (`_id`) and the identifier of the changed document, because listeners
 * need no other data. The driver throws an error for an event without a resume token.
 */
const STAGES = [WITHOUT_TOUCHES, { $project: { documentKey: 1 } }];

/** The options that keep the BSON types of identifiers, so that a query by an identifier finds its entity. */
const OPTIONS = { batchSize: 1000, promoteLongs: false, promoteBuffers: false } as const;

/** The error code of a server that has no change streams, because it belongs to no replica set. */
const NO_STREAMS = 40573;

interface Change {
  /** The key of the changed document. Events about a dropped or renamed collection have no key. */
  readonly documentKey?: { readonly _id: unknown };
}

/**
 * The open change feeds of each `MongoClient`, by the names of the database and the collection. All listeners of a
 * collection share one feed, because each feed occupies a connection.
 */
const pools = new WeakMap<mongo.MongoClient, Map<string, ChangeFeed>>();

/**
 * Returns the number of connections that change feeds occupy. Followers may occupy the other connections of one half of
 * the connection pool, so that requests have the other half.
 */
export function feedCount(client: mongo.MongoClient): number {
  return pools.get(client)?.size ?? 0;
}

/**
 * The changes of one collection, for live lists. All listeners of the process share one change stream, because each
 * stream occupies a connection. The stream contains only the identifiers of the changed entities.
 */
export class ChangeFeed {
  readonly #model: Model<unknown>;
  readonly #forget: () => void;
  readonly #listeners = new Set<ChangeListener>();
  #opened: Promise<void> | undefined;
  #stream: mongo.ChangeStream | undefined;
  #isLost = false;
  #isEnded = false;
  #changed = new Map<string, unknown>();
  #isAnything = false;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #ending: ReturnType<typeof setTimeout> | undefined;

  private constructor(model: Model<unknown>, forget: () => void) {
    this.#model = model;
    this.#forget = forget;
  }

  /**
   * Returns the change feed of a collection. Throws if change feeds would occupy more than half of the connection
   * pool, because each feed keeps one connection busy.
   */
  static of(model: Model<unknown>): ChangeFeed {
    const { collection, db } = model;
    const client = (db as Connection).getClient();
    const feeds = feedsOf(client);
    const name = `${collection.conn.name}.${collection.collectionName}`;
    const known = feeds.get(name);
    if (known !== undefined) return known;
    const { maxPoolSize = 100 } = client.options;
    if (maxPoolSize > 0 && feeds.size >= Math.floor(maxPoolSize / 2)) {
      logHint(
        `Cannot open a live list of "${name}": ${feeds.size} live collections keep a connection ` +
          `each, and the rest of a maxPoolSize of ${maxPoolSize} is for requests; set a larger one`,
      );
      throw new StoreFailure({ kind: "away", reason: "feeds" });
    }
    const feed = new ChangeFeed(model, () => feeds.delete(name));
    feeds.set(name, feed);
    return feed;
  }

  /**
   * Adds a listener, which gets every change after the promise has resolved, so that a later read misses no change.
   * Returns a function that removes the listener.
   */
  async listen(listener: ChangeListener, timeBudget: TimeBudget): Promise<() => void> {
    clearTimeout(this.#ending);
    this.#listeners.add(listener);
    try {
      await timeBudget.wait(this.#opened ??= this.#open());
    } catch (error) {
      this.#listeners.delete(listener);
      this.#end();
      throw error;
    }
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      clearTimeout(this.#ending);
      this.#ending = setTimeout(() => this.#end(), GRACE_MS).unref();
    };
  }

  tellAnything(): void {
    this.#isAnything = true;
    this.#tell();
  }

  async #open(): Promise<void> {
    try {
      void this.#read(await this.#openStream());
    } catch (error) {
      if (Object(error).code !== NO_STREAMS) throw error;
      logHint(
        "Cannot open a live list: a standalone server has no change streams; use a replica set, which may have one member",
      );
      throw new StoreFailure({ kind: "away", reason: "outage" }, error);
    }
  }

  /**
   * Opens the change stream. Every change after the promise has resolved is part of the stream. Returns the first
   * change, or `null` if the stream has none yet.
   */
  async #openStream(resumeAfter?: unknown): Promise<Change | null> {
    const stream = this.#model.collection.watch(STAGES, {
      ...OPTIONS,
      ...resumeAfter !== undefined && { resumeAfter },
    }) as unknown as mongo.ChangeStream;
    this.#stream = stream;
    return await stream.tryNext() as Change | null;
  }

  async #read(first: Change | null): Promise<void> {
    let change: Change | null = first;
    while (!this.#isEnded) {
      try {
        if (change !== null) this.#take(change);
        change = await this.#stream?.next() as unknown as Change;
      } catch (error) {
        change = await this.#reopen(error);
      }
    }
    await this.#stream?.close().catch(() => {});
  }

  /**
   * Opens the change stream again after an error. The new stream continues at the resume token, so that no change is
   * lost. If the server cannot continue at the token, listeners must read everything again.
   */
  async #reopen(cause: unknown): Promise<Change | null> {
    let token: unknown = this.#stream?.resumeToken;
    let failure = cause;
    while (!this.#isEnded) {
      if (this.#isLost || !isUnavailable(failure)) token = undefined;
      await this.#stream?.close().catch(() => {});
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS).unref());
      if (this.#isEnded || !isOpen(this.#model.db as Connection)) continue;
      try {
        const first = await this.#openStream(token);
        this.#isLost = false;
        if (token === undefined) this.tellAnything();
        return first;
      } catch (error) {
        failure = error;
      }
    }
    return null;
  }

  #take({ documentKey }: Change): void {
    if (documentKey === undefined) {
      this.#isLost = true;
      return this.tellAnything();
    }
    const { _id: id } = documentKey;
    // Each changed identifier is listed once, by its text as a key. An identifier that is an object other than an
    // `ObjectId`, such as a `Buffer`, has no unique text, so it can be listed more than once.
    const hasName = isObjectId(id) || typeof id !== "object";
    this.#changed.set(hasName ? `${typeof id} ${id}` : `change ${this.#changed.size}`, id);
    this.#tell();
  }

  #tell(): void {
    this.#telling ??= setTimeout(() => {
      const changes = this.#isAnything ? "anything" : [...this.#changed.values()];
      this.#telling = undefined;
      this.#isAnything = false;
      this.#changed = new Map();
      for (const listener of [...this.#listeners]) listener(changes);
    }, GATHER_MS);
  }

  #end(): void {
    if (this.#listeners.size > 0 || this.#isEnded) return;
    this.#isEnded = true;
    this.#forget();
    clearTimeout(this.#telling);
    this.#stream?.close().catch(() => {});
  }
}

function feedsOf(client: mongo.MongoClient): Map<string, ChangeFeed> {
  const known = pools.get(client);
  if (known !== undefined) return known;
  const feeds = new Map<string, ChangeFeed>();
  pools.set(client, feeds);
  let primary = "";
  // A new primary may lack writes that were read from the previous primary. No change event reports this rollback, so
  // listeners must read everything again.
  client.on("topologyDescriptionChanged", ({ newDescription: { servers } }) => {
    const found = [...servers.values()].find(({ type }) => type === "RSPrimary");
    const name = found && `${found.address} ${found.electionId}`;
    if (name === undefined || name === primary) return;
    primary = name;
    for (const feed of feeds.values()) feed.tellAnything();
  });
  return feeds;
}

import type { Connection, Model, mongo } from "mongoose";
import { clearTimeout, setTimeout } from "node:timers";
import { logHint } from "../errors/log.ts";
import { StoreFailure } from "../errors/failure.ts";
import { isObjectId } from "../schema/mongoose/bson.ts";
import { isOpen } from "../schema/mongoose/connections.ts";
import { WITHOUT_TOUCHES } from "./touch.ts";
import { isUnavailable } from "./failure_of.ts";
import type { TimeBudget } from "./time_budget.ts";

/** Changed identifiers in their stored BSON types. After "anything", live lists are read again. */
export type Changes = readonly unknown[] | "anything";

type ChangeListener = (changes: Changes) => void;

const GATHER_MS = 50;

/** A change stream stays open so long for clients that reconnect. */
const GRACE_MS = 10_000;

const PAUSE_MS = 500;

/** The driver throws for an event without its resume token `_id`, so the projection keeps `_id`. */
const STAGES = [WITHOUT_TOUCHES, { $project: { documentKey: 1 } }];

/** With the driver's defaults, the BSON types of identifiers would change, and a query could miss the entity. */
const OPTIONS = {
  batchSize: 1000,
  promoteLongs: false,
  promoteBuffers: false,
  // The driver refuses `true`, which the client may have, together with `promoteLongs: false`.
  useBigInt64: false,
} as const;

/** The error code of a standalone server. */
const NO_STREAMS = 40573;

interface StreamEvent {
  readonly documentKey?: { readonly _id: unknown };
}

const pools = new WeakMap<mongo.MongoClient, Map<string, ChangeFeed>>();

export function feedCount(client: mongo.MongoClient): number {
  return pools.get(client)?.size ?? 0;
}

/** Each change stream occupies a connection, so all listeners of a collection share one. */
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
  #notifying: ReturnType<typeof setTimeout> | undefined;
  #ending: ReturnType<typeof setTimeout> | undefined;

  private constructor(model: Model<unknown>, forget: () => void) {
    this.#model = model;
    this.#forget = forget;
  }

  /** Throws if change streams would occupy more than half of the connection pool. */
  static of(model: Model<unknown>): ChangeFeed {
    const { collection, db } = model;
    const client = (db as Connection).getClient();
    const feeds = feedsOf(client);
    const name = `${collection.conn.name}.${collection.collectionName}`;
    const cached = feeds.get(name);
    if (cached !== undefined) return cached;
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

  /** A read that begins after the promise has resolved misses no change. */
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

  notifyUnknown(): void {
    this.#isAnything = true;
    this.#notify();
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

  async #openStream(resumeAfter?: unknown): Promise<StreamEvent | null> {
    const stream = this.#model.collection.watch(STAGES, {
      ...OPTIONS,
      ...resumeAfter !== undefined && { resumeAfter },
    }) as unknown as mongo.ChangeStream;
    this.#stream = stream;
    return await stream.tryNext() as StreamEvent | null;
  }

  async #read(first: StreamEvent | null): Promise<void> {
    let change: StreamEvent | null = first;
    while (!this.#isEnded) {
      try {
        if (change !== null) this.#take(change);
        change = await this.#stream?.next() as unknown as StreamEvent;
      } catch (error) {
        change = await this.#reopen(error);
      }
    }
    await this.#stream?.close().catch(() => {});
  }

  /** A stream that continues at its resume token loses no change. Without it, listeners read everything again. */
  async #reopen(cause: unknown): Promise<StreamEvent | null> {
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
        if (token === undefined) this.notifyUnknown();
        return first;
      } catch (error) {
        failure = error;
      }
    }
    return null;
  }

  #take({ documentKey }: StreamEvent): void {
    if (documentKey === undefined) {
      this.#isLost = true;
      return this.notifyUnknown();
    }
    const { _id: id } = documentKey;
    // ObjectIds and primitive identifiers have unique strings, so repeated changes are listed once.
    const hasName = isObjectId(id) || typeof id !== "object";
    this.#changed.set(hasName ? `${typeof id} ${id}` : `change ${this.#changed.size}`, id);
    this.#notify();
  }

  #notify(): void {
    this.#notifying ??= setTimeout(() => {
      const changes = this.#isAnything ? "anything" : [...this.#changed.values()];
      this.#notifying = undefined;
      this.#isAnything = false;
      this.#changed = new Map();
      for (const listener of [...this.#listeners]) listener(changes);
    }, GATHER_MS);
  }

  #end(): void {
    if (this.#listeners.size > 0 || this.#isEnded) return;
    this.#isEnded = true;
    this.#forget();
    clearTimeout(this.#notifying);
    this.#stream?.close().catch(() => {});
  }
}

function feedsOf(client: mongo.MongoClient): Map<string, ChangeFeed> {
  const cached = pools.get(client);
  if (cached !== undefined) return cached;
  const feeds = new Map<string, ChangeFeed>();
  pools.set(client, feeds);
  let primary = "";
  // A new primary may lack writes that were read from the previous one, and no change event reports it.
  client.on("topologyDescriptionChanged", ({ newDescription: { servers } }) => {
    const found = [...servers.values()].find(({ type }) => type === "RSPrimary");
    const name = found && `${found.address} ${found.electionId}`;
    if (name === undefined || name === primary) return;
    primary = name;
    for (const feed of feeds.values()) feed.notifyUnknown();
  });
  return feeds;
}

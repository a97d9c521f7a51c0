import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as pause } from "node:timers/promises";
import { Lease } from "../store/lease.ts";
import { withTimeLimit } from "../store/time_limit.ts";
import { connectionsFrom } from "../store/request_connection.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { PluginJob } from "../declare/plugins/plugin.ts";
import { logError, logHint } from "../errors/log.ts";
import type { Filter } from "../filter/filters.ts";
import type { Tidy } from "../pipeline/class_feature.ts";
import type { FeatureList } from "../pipeline/feature_list.ts";
import type { Route } from "../pipeline/request/route.ts";
import { endAtClose } from "../http/close_server.ts";
import { storedClasses, untypedModel } from "../schema/get_model.ts";
import { checkConnection, decodeAllNames, isOpen } from "../schema/mongoose/connections.ts";
import { RemovalForGood } from "../sources/collection/remove_for_good.ts";

/** @internal Options of `Framework.tidy()`. */
export interface TidyOptions {
  /** The time at which an entity must have expired, by default the current time. */
  readonly at?: Date;
  /** More open connections for routes with `getConnection`. */
  readonly connections?: readonly Connection[];
}

/** The result of `Framework.tidy()`. */
export interface Tidied {
  /** The numbers of removed entities by class, without zeros. */
  readonly removed: Readonly<Record<string, number>>;
}

const EVERY_MS = 10 * 60_000;

/** Processes that start together would otherwise collide each time. */
const VARIATION = 0.1;

const PORTION = 100;

/** Longer than a portion, which takes at most 10 seconds, because the lease is renewed before each. */
const LEASE_MS = 60_000;

const CLAIM_PAUSE_MS = 200;

const COLLECTION = "mongrove_leases";

interface ExpiringClass {
  readonly features: FeatureList;
  readonly tidies: readonly Tidy[];
  /** `undefined` is the default connection. */
  readonly sources: ReadonlySet<Route["getConnection"]>;
  /** If all routers have `tidy: false`, only `Framework.tidy()` removes entities. */
  readonly isScheduled: boolean;
}

interface ClassesOfConnection {
  readonly connection: Connection;
  readonly classes: Map<ModelClass, ExpiringClass>;
  readonly jobs: PluginJob[];
}

interface TidyResult {
  readonly removed: Record<string, number>;
  readonly errors: unknown[];
}

interface TidyRun extends ClassesOfConnection {
  readonly result: TidyResult;
  readonly lease: Lease;
  readonly at: Date;
  readonly signal?: AbortSignal | undefined;
}

/** Only one process at a time removes the expired entities of a database. */
export class Housekeeper {
  readonly #everyMS: number;
  readonly #classes = new Map<ModelClass, ExpiringClass>();
  readonly #jobs = new Map<PluginJob, boolean>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #troubled = new Set<string>();

  constructor({ everyMS = EVERY_MS }: { readonly everyMS?: number } = {}) {
    this.#everyMS = everyMS;
  }

  add(
    routes: readonly Route[],
    { isScheduled, jobs = [] }: {
      readonly isScheduled: boolean;
      readonly jobs?: readonly PluginJob[];
    },
  ): void {
    for (const job of jobs) this.#jobs.set(job, isScheduled || this.#jobs.get(job) === true);
    if (isScheduled && jobs.length > 0) this.#start();
    for (const { levels, features, getConnection } of routes) {
      for (const { target, link } of levels) {
        const tidies = link?.embedded ? [] : features.tidiesOf(target);
        if (tidies.length === 0) continue;
        const known = this.#classes.get(target);
        this.#classes.set(target, {
          features,
          tidies,
          sources: new Set([...known?.sources ?? [], getConnection]),
          isScheduled: isScheduled || known?.isScheduled === true,
        });
        if (isScheduled) this.#start();
      }
    }
  }

  async tidy({ at = new Date(), connections = [], ...others }: TidyOptions = {}): Promise<Tidied> {
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw new TypeError(`Cannot tidy: there is no option "${unknown}"`);
    if (!(at instanceof Date) || Number.isNaN(at.getTime())) {
      throw new TypeError(`Cannot tidy: "at" is not a valid date`);
    }
    if (!Array.isArray(connections)) {
      throw new TypeError(`Cannot tidy: "connections" is not a list of connections`);
    }
    for (const connection of connections) {
      checkConnection(connection);
      checkOpen(connection);
      decodeAllNames(connection);
    }
    const result: TidyResult = { removed: {}, errors: [] };
    const places = this.#places({ connections });
    for (const { connection } of places) checkOpen(connection);
    for (const place of places) {
      const { name } = place.connection;
      await tidyPlace(place, { waits: true, at, result })
        .catch((cause) => result.errors.push(new Error(`Cannot tidy "${name}"`, { cause })));
    }
    if (result.errors.length > 0) throw combinedError(result.errors);
    return { removed: result.removed };
  }

  /** Several connections to one database count once. */
  #places(
    { connections, isScheduled = false }: {
      readonly connections: readonly Connection[];
      readonly isScheduled?: boolean;
    },
  ): ClassesOfConnection[] {
    const places = new Map<unknown, Map<string, ClassesOfConnection>>();
    const placeOf = (connection: Connection): ClassesOfConnection => {
      const client = connection.getClient();
      const ofClient = places.get(client) ?? new Map<string, ClassesOfConnection>();
      const place = ofClient.get(connection.name) ?? { connection, classes: new Map(), jobs: [] };
      places.set(client, ofClient.set(connection.name, place));
      return place;
    };
    for (const [target, expiring] of this.#classes) {
      if (isScheduled && !expiring.isScheduled) continue;
      const used = [...expiring.sources].flatMap((source) =>
        source === undefined
          ? mongoose.connection
          : [...connectionsFrom(source).filter(isOpen), ...connections]
      );
      for (const connection of used) placeOf(connection).classes.set(target, expiring);
    }
    for (const [job, ofSchedule] of this.#jobs) {
      const { connection = mongoose.connection } = job;
      const isUsed = job.connection === undefined || isOpen(connection);
      if (isUsed && (!isScheduled || ofSchedule)) placeOf(connection).jobs.push(job);
    }
    return [...places.values()].flatMap((ofClient) => [...ofClient.values()]);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopped.abort();
    await this.#running;
  }

  #start(): void {
    if (this.#stopped.signal.aborted) this.#stopped = new AbortController();
    if (this.#timer !== undefined) return;
    const { signal } = this.#stopped;
    const factor = 1 + VARIATION * (2 * Math.random() - 1);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#runScheduled(signal).finally(() => {
        if (!signal.aborted) this.#start();
      });
    }, this.#everyMS * factor).unref();
  }

  /** Only the first failure of a database is logged until a removal succeeds. */
  async #runScheduled(signal: AbortSignal): Promise<void> {
    for (const place of this.#places({ connections: [], isScheduled: true })) {
      const { connection } = place;
      if (signal.aborted || !isOpen(connection)) continue;
      const { removed, errors }: TidyResult = { removed: {}, errors: [] };
      try {
        await tidyPlace(place, { at: new Date(), signal, result: { removed, errors } });
      } catch (error) {
        errors.push(error);
      }
      const isKnown = this.#troubled.has(connection.name);
      if (errors.length === 0) this.#troubled.delete(connection.name);
      else this.#troubled.add(connection.name);
      if (errors.length > 0 && !isKnown) logError(combinedError(errors), { task: "tidy" });
    }
  }
}

function checkOpen(connection: Connection): void {
  if (isOpen(connection)) return;
  const name = connection === mongoose.connection
    ? "default connection"
    : `connection to "${connection.name}"`;
  throw new Error(`Cannot tidy: the ${name} is not open`);
}

function combinedError(errors: readonly unknown[]): unknown {
  return errors.length === 1
    ? errors[0]
    : new AggregateError(errors, "Cannot tidy several classes");
}

async function claim(connection: Connection): Promise<Lease | undefined> {
  const records = connection.collection(COLLECTION);
  return (await Lease.claim({ records, name: "tidy", leaseMS: LEASE_MS })).lease;
}

async function waitForLease(connection: Connection): Promise<Lease> {
  let lease = await claim(connection);
  while (lease === undefined) {
    await pause(CLAIM_PAUSE_MS);
    lease = await claim(connection);
  }
  return lease;
}

/** A database without any collection of the classes is skipped, because a lease would create one there. */
async function tidyPlace(
  { connection, classes, jobs }: ClassesOfConnection,
  { waits = false, ...run }: Omit<TidyRun, keyof ClassesOfConnection | "lease"> & {
    readonly waits?: boolean;
  },
): Promise<void> {
  const stored = new Set(await storedClasses([...classes.keys()], connection));
  if (stored.size === 0 && jobs.length === 0) return;
  const lease = await (waits ? waitForLease : claim)(connection);
  if (lease === undefined) return;
  const existing = new Map([...classes].filter(([target]) => stored.has(target)));
  await tidyAll({ ...run, connection, classes: existing, jobs, lease });
}

async function tidyAll({ classes, jobs, lease, result, ...run }: TidyRun): Promise<void> {
  const { removed, errors } = result;
  try {
    const tidyOne = async (name: string, tidy: (count: Count) => Promise<void>) => {
      const count = (portion: number) => {
        if (portion > 0) removed[name] = (removed[name] ?? 0) + portion;
      };
      await tidy(count)
        .catch((cause) => errors.push(new Error(`Cannot tidy "${name}"`, { cause })));
    };
    for (const [target, expiring] of classes) {
      await tidyOne(
        target.name,
        (count) => tidyClass(target, { ...run, ...expiring, lease, count }),
      );
    }
    for (const job of jobs) {
      await tidyOne(job.name, async (count) => {
        if (run.signal?.aborted) return;
        await holdLease(lease);
        const limit = { ms: LEASE_MS, message: "The job is late" };
        count(await withTimeLimit(() => job.run(run.at), limit));
      });
    }
  } finally {
    // A lease that is not released ends after a minute.
    if (lease.isHeld) await lease.release().catch(() => {});
    lease.lose();
  }
}

type Count = (portion: number) => void;

async function holdLease(lease: Lease): Promise<void> {
  if (!lease.isHeld || await lease.renew() === null) throw new Error("The lease is lost");
}

interface TidyClassOptions extends Omit<TidyRun, "classes" | "jobs" | "result">, ExpiringClass {
  readonly count: Count;
}

async function tidyClass(
  target: ModelClass,
  { connection, features, tidies, lease, at, signal, count }: TidyClassOptions,
): Promise<void> {
  const model = untypedModel(target, connection);
  const addedStatements = features.addedStatementsOf(target, "tidy");
  const removal = new RemovalForGood(model, { limit: PORTION, addedStatements });
  const { tooLarge } = removal;
  const remove = (filter: Filter) => removal.remove(filter);
  for (const tidy of tidies) {
    for (let hasMore = true; hasMore;) {
      if (signal?.aborted) return;
      await holdLease(lease);
      const known = tooLarge.length;
      const removed = await tidy({ model, at, limit: PORTION, remove });
      count(removed);
      hasMore = removed > 0 || tooLarge.length > known;
    }
  }
  if (tooLarge.length === 0) return;
  logHint(
    `Cannot remove ${tooLarge.length} expired entities of "${target.name}", such as ${
      tooLarge[0]
    }: ` +
      "the removal with all that belongs to it is too large for a transaction",
  );
}

export const housekeeper = new Housekeeper();

endAtClose(() => housekeeper.stop());

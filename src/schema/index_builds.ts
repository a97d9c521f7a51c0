import { setTimeout } from "node:timers";
import type { Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { logHint } from "../errors/log.ts";
import { memoize } from "./memoize.ts";
import { isOpen } from "./mongoose/connections.ts";

/** The pause before the second attempt to build an index. The pause doubles with each attempt. */
const FIRST_PAUSE_MS = 1000;

const LONGEST_PAUSE_MS = 60_000;

/**
 * The longest time that a write waits for the first build of the indexes that it needs. On an empty collection, a build
 * takes milliseconds.
 */
const FIRST_BUILD_MS = 2000;

const builds = new WeakMap<Model<unknown>, IndexBuilds>();

/** The index builds of a class that have a failure which no request has reported yet. */
const untoldOf = memoize((_target: ModelClass) => new Set<IndexBuilds>());

export function watchIndexes(model: Model<unknown>, target: ModelClass): void {
  builds.set(model, new IndexBuilds(model, target));
}

export function indexBuilds(model: Model<unknown>): IndexBuilds | undefined {
  return builds.get(model);
}

export function hasUntoldFailures(target: ModelClass): boolean {
  return untoldOf(target).size > 0;
}

/** The index builds of one model on one connection. A failed build is repeated until it succeeds. */
export class IndexBuilds {
  readonly #model: Model<unknown>;
  /** The name of the model class. */
  readonly name: string;
  readonly #untold: Set<IndexBuilds>;
  #failure: Error | undefined;
  /** The causes of failures that were logged since the last successful build. Each cause is logged once. */
  readonly #logged = new Set<string>();
  #missing: Error | undefined;
  #tries = 0;
  #stands: object | undefined;
  #builtAnew: object | undefined;
  #unique: readonly UniqueIndex[] | undefined;

  constructor(model: Model<unknown>, target: ModelClass) {
    this.#model = model;
    this.name = target.name;
    this.#untold = untoldOf(target);
    model.on("index", (error?: Error) => error ? this.#fail(error) : this.#succeed());
  }

  /**
   * The reason why unique indexes are missing. The reason is the error of the last build, or an error that lists the
   * missing indexes if no build has failed.
   */
  get failure(): Error | undefined {
    return this.#failure ?? this.#missing;
  }

  takeUntold(): Error | undefined {
    return this.#untold.delete(this) ? this.#failure : undefined;
  }

  /** Whether all unique indexes are built on the deployment that the connection currently uses. */
  async areUniqueStanding(): Promise<boolean> {
    const client = this.#model.db.getClient();
    if (this.#stands === client || uniqueIndexes(this.#model).length === 0) return true;
    await this.#model.init().then(() => {}, () => {});
    const missing = await missingUnique(this.#model);
    if (missing.length === 0) this.#stands = client;
    this.#missing = new Error(`Unique indexes of "${this.name}" are missing: ${missing}`);
    return missing.length === 0;
  }

  /**
   * Whether the unique indexes that a write needs are built. The function waits a bounded time for the first build of
   * these indexes. A user who may not list indexes can write without this check.
   */
  async isStandingFor(isNeeded: (index: UniqueIndex) => boolean): Promise<boolean> {
    const isBuilt = () => this.#stands === this.#model.db.getClient();
    if (isBuilt()) return true;
    this.#unique ??= uniqueIndexes(this.#model).map(([key, options]) => ({
      fields: Object.keys(key).map(topOf),
      isOfAll: !options.sparse && options.partialFilterExpression === undefined,
      text: JSON.stringify(key),
    }));
    const needed = this.#unique.filter(isNeeded).map(({ text }) => text);
    if (needed.length === 0) return true;
    await waitFor(this.#model.init());
    if (isBuilt()) return true;
    const missing = await missingUnique(this.#model).catch((error) => {
      // A user without the right to list indexes may still write.
      if (error.code === UNAUTHORIZED) return [];
      throw error;
    });
    if (missing.length === 0) this.#stands = this.#model.db.getClient();
    this.#missing = new Error(`Unique indexes of "${this.name}" are missing: ${missing}`);
    if (!missing.some((each) => needed.includes(each))) return true;
    await this.#buildAnew();
    return isBuilt();
  }

  /**
   * Builds the indexes once more, and only once for each deployment. The connection may have been reopened on another
   * deployment during the first build, which would leave the new deployment without indexes.
   */
  async #buildAnew(): Promise<void> {
    const { db, schema } = this.#model;
    const client = db.getClient();
    const isOff = [schema.get("autoIndex"), db.get("autoIndex"), db.base.get("autoIndex")]
      .includes(false);
    if (isOff || this.#builtAnew === client) return;
    this.#builtAnew = client;
    await waitFor(this.#model.ensureIndexes());
  }

  #succeed(): void {
    this.#stands = this.#model.db.getClient();
    if (this.#failure !== undefined) logHint(`The indexes of "${this.name}" are built`);
    this.#failure = undefined;
    this.#logged.clear();
    this.#tries = 0;
    this.#untold.delete(this);
  }

  #fail(error: Error): void {
    const cause = causeOf(error);
    this.#failure = error;
    if (!this.#logged.has(cause)) {
      this.#logged.add(cause);
      this.#untold.add(this);
      logHint(
        `Cannot build an index of "${this.name}": ${error.message}; it is tried again until it succeeds`,
      );
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#tries++, LONGEST_PAUSE_MS);
    this.#retryIn(pause, this.#model.db.getClient());
  }

  /**
   * Repeats the build after a pause. Stops if the connection was reopened on another deployment, because the indexes of
   * that deployment are built separately.
   */
  #retryIn(pause: number, client: object): void {
    const retry = () => {
      const { db } = this.#model;
      if (db.getClient() !== client) this.#untold.delete(this);
      else if (!isOpen(db)) this.#retryIn(FIRST_PAUSE_MS, client);
      // Mongoose reports the result by the "index" event, so the rejection needs no handler.
      else this.#model.ensureIndexes().catch(() => {});
    };
    setTimeout(retry, pause).unref();
  }
}

/** Waits until a build has succeeded or failed, but no longer than a write may wait. */
async function waitFor(build: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, FIRST_BUILD_MS));
  await Promise.race([build.then(() => {}, () => {}), late]);
  clearTimeout(timer);
}

/**
 * Returns the message of an error without the identifiers of the build and the connection. These differ at each
 * attempt, so the same cause would be logged again.
 */
function causeOf({ message }: Error): string {
  return message.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\bconnection \d+/g, "");
}

async function missingUnique(model: Model<unknown>): Promise<string[]> {
  const stored = await standingIndexes(model).catch((error: { codeName?: unknown }) => {
    if (error.codeName === "NamespaceNotFound") return [];
    throw error;
  });
  const standing = new Set(
    stored.filter(({ unique }) => unique).map(({ key, ...options }) => ruleOf(key, options)),
  );
  return uniqueIndexes(model).filter(([key, options]) => !standing.has(ruleOf(key, options)))
    .map(([key]) => JSON.stringify(key));
}

interface StoredIndex extends UniqueOptions {
  readonly key: object;
  readonly name: string;
}

interface StorageStats {
  readonly indexSizes?: Readonly<Record<string, number>>;
  readonly indexBuilds?: readonly string[];
}

const UNAUTHORIZED = 13;

/** The codes of errors for users, databases and connections that may not read collection statistics. */
const WITHOUT_STATISTICS: ReadonlySet<unknown> = new Set([9, 13, 115, 304, 323, 40324]);

/**
 * Returns the finished indexes. `listIndexes()` also returns indexes that are being built, which do not enforce
 * uniqueness yet. The statistics of the collection distinguish both. Without access to the statistics, all listed
 * indexes are returned.
 */
async function standingIndexes(model: Model<unknown>): Promise<StoredIndex[]> {
  const listed = await model.listIndexes() as StoredIndex[];
  const stats: StorageStats[] | undefined = await statistics(model).catch((error) => {
    if (WITHOUT_STATISTICS.has(error.code)) return undefined;
    throw error;
  });
  if (stats === undefined || stats.some(({ indexSizes }) => indexSizes === undefined)) {
    return listed;
  }
  const known = new Set(stats.flatMap(({ indexSizes = {} }) => Object.keys(indexSizes)));
  for (const name of stats.flatMap(({ indexBuilds = [] }) => indexBuilds)) known.delete(name);
  return listed.filter(({ name }) => known.has(name));
}

/** Reads the storage statistics of a collection. The result has one element for each shard. */
async function statistics({ collection }: Model<unknown>): Promise<StorageStats[]> {
  const stages = [{ $collStats: { storageStats: {} } }];
  const shards = await collection.aggregate(stages, { readPreference: "primary" }).toArray();
  return shards.map(({ storageStats }) => storageStats);
}

/** A unique index of a model. */
export interface UniqueIndex {
  /** The top-level fields that the index reads. */
  readonly fields: readonly string[];
  /** Whether the index contains every entity, including entities without the fields. */
  readonly isOfAll: boolean;
  readonly text: string;
}

function topOf(path: string): string {
  return path.split(".", 1)[0] ?? path;
}

interface UniqueOptions {
  readonly unique?: unknown;
  readonly sparse?: unknown;
  readonly partialFilterExpression?: unknown;
  readonly collation?: { readonly locale?: string; readonly strength?: number };
}

/** Returns a text that is equal for two unique indexes with the same keys, partial filter, sparseness and collation. */
function ruleOf(key: object, options: UniqueOptions): string {
  const { sparse, partialFilterExpression = null, collation } = options;
  const { locale = "simple", strength = 3 } = collation ?? {};
  const compared = locale === "simple" ? null : [locale, strength];
  return JSON.stringify([key, partialFilterExpression, Boolean(sparse), compared]);
}

function uniqueIndexes({ schema }: Model<unknown>): [key: object, options: UniqueOptions][] {
  const { collation } = (schema as Schema).options as UniqueOptions;
  return schema.indexes().filter(([, { unique }]) => unique)
    .map(([key, options]) => [key, { ...collation && { collation }, ...options } as object]);
}

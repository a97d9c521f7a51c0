import { setTimeout } from "node:timers";
import type { Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { logHint } from "../errors/log.ts";
import { memoize } from "./memoize.ts";
import { isOpen } from "./mongoose/connections.ts";

/** The pause before an index build is tried for the second time; it doubles from try to try. */
const FIRST_PAUSE_MS = 1000;

const LONGEST_PAUSE_MS = 60_000;

/** How long a write waits for the first build of the indexes that it needs: on an empty collection it takes milliseconds. */
const FIRST_BUILD_MS = 2000;

const builds = new WeakMap<Model<unknown>, IndexBuilds>();

/** The builds of each class whose failures have not been reported yet. */
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

/** The index builds of one model on one connection: one that fails is repeated until it succeeds. */
export class IndexBuilds {
  readonly #model: Model<unknown>;
  /** The name of the class. */
  readonly name: string;
  readonly #untold: Set<IndexBuilds>;
  #failure: Error | undefined;
  /** The causes that were logged since a build has succeeded. */
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

  /** Why unique indexes are missing: the last build failed, or none has run. */
  get failure(): Error | undefined {
    return this.#failure ?? this.#missing;
  }

  takeUntold(): Error | undefined {
    return this.#untold.delete(this) ? this.#failure : undefined;
  }

  /** Whether all unique indexes stand, on the deployment that the connection leads to. */
  async areUniqueStanding(): Promise<boolean> {
    const client = this.#model.db.getClient();
    if (this.#stands === client || uniqueIndexes(this.#model).length === 0) return true;
    await this.#model.init().then(() => {}, () => {});
    const missing = await missingUnique(this.#model);
    if (missing.length === 0) this.#stands = client;
    this.#missing = new Error(`Unique indexes of "${this.name}" are missing: ${missing}`);
    return missing.length === 0;
  }

  /** Whether the unique indexes that a write needs stand, as far as the write can wait for their first build. */
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
      // A user that may not list indexes can write.
      if (error.code === UNAUTHORIZED) return [];
      throw error;
    });
    if (missing.length === 0) this.#stands = this.#model.db.getClient();
    this.#missing = new Error(`Unique indexes of "${this.name}" are missing: ${missing}`);
    if (!missing.some((each) => needed.includes(each))) return true;
    await this.#buildAnew();
    return isBuilt();
  }

  /** Builds the indexes once more, once for each deployment: the connection may have been opened anew during a build. */
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

  /** Builds again on the same deployment: what is opened elsewhere later has indexes of its own. */
  #retryIn(pause: number, client: object): void {
    const retry = () => {
      const { db } = this.#model;
      if (db.getClient() !== client) this.#untold.delete(this);
      else if (!isOpen(db)) this.#retryIn(FIRST_PAUSE_MS, client);
      // Mongoose tells of the result by an event.
      else this.#model.ensureIndexes().catch(() => {});
    };
    setTimeout(retry, pause).unref();
  }
}

/** Waits for a build as long as a write can, and for failures too. */
async function waitFor(build: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, FIRST_BUILD_MS));
  await Promise.race([build.then(() => {}, () => {}), late]);
  clearTimeout(timer);
}

/** The message without the identifiers of the build and of the connection, which differ at each try. */
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

/** The codes of the errors of users, databases and connections that may not read statistics. */
const WITHOUT_STATISTICS: ReadonlySet<unknown> = new Set([9, 13, 115, 304, 323, 40324]);

/** Lists the indexes that keep entities apart. One that is being built does not yet, and may fail: it is listed as the others. */
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

/** Gives the statistics of a collection, of each shard. */
async function statistics({ collection }: Model<unknown>): Promise<StorageStats[]> {
  const stages = [{ $collStats: { storageStats: {} } }];
  const shards = await collection.aggregate(stages, { readPreference: "primary" }).toArray();
  return shards.map(({ storageStats }) => storageStats);
}

/** A unique index of a model. */
export interface UniqueIndex {
  /** The fields of the root that it reads. */
  readonly fields: readonly string[];
  /** Whether it has every entity, those without the fields too. */
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

/** Tells which entities an index keeps apart, and by what. */
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

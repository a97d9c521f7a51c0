import { setTimeout } from "node:timers";
import type { Connection, Model, Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { logHint } from "../errors/log.ts";
import { noteBuild, waitFor } from "./build_waits.ts";
import { memoize } from "./memoize.ts";
import { isOpen } from "./mongoose/connections.ts";
import { declaredIndexes, type SchemaIndex } from "./mongoose/schemas/change_indexes.ts";

const FIRST_PAUSE_MS = 1000;

const LONGEST_PAUSE_MS = 60_000;

const builds = new WeakMap<Model<unknown>, IndexBuilds>();

/** Each failed index build is reported once, by the next write request. */
const unreportedOf = memoize((_target: ModelClass) => new Set<IndexBuilds>());

export function watchIndexes(model: Model<unknown>, target: ModelClass): void {
  builds.set(model, new IndexBuilds(model, target));
}

export function indexBuilds(model: Model<unknown>): IndexBuilds | undefined {
  return builds.get(model);
}

export function hasUnreportedFailures(target: ModelClass): boolean {
  return unreportedOf(target).size > 0;
}

/** Without the unique indexes, two writes could store equal values, so a failed build is repeated. */
export class IndexBuilds {
  readonly #model: Model<unknown>;
  readonly name: string;
  readonly #unreported: Set<IndexBuilds>;
  #failure: Error | undefined;
  readonly #logged = new Set<string>();
  #missing: Error | undefined;
  #tries = 0;
  #stands: object | undefined;
  #builtAnew: object | undefined;
  #withoutOlder: object | undefined;
  #unique: readonly UniqueIndex[] | undefined;

  constructor(model: Model<unknown>, target: ModelClass) {
    this.#model = model;
    this.name = target.name;
    this.#unreported = unreportedOf(target);
    model.on("index", (error?: Error) => error ? this.#fail(error) : this.#succeed());
  }

  get failure(): Error | undefined {
    return this.#failure ?? this.#missing;
  }

  /** `true` if the unique indexes exist on the current deployment, or if the user may not list indexes. */
  get areBuilt(): boolean {
    return this.#stands === this.#model.db.getClient();
  }

  takeUnreported(): Error | undefined {
    return this.#unreported.delete(this) ? this.#failure : undefined;
  }

  async areUniqueStanding(): Promise<boolean> {
    const client = this.#model.db.getClient();
    if (uniqueIndexes(this.#model).length === 0) return true;
    if (this.#stands === client) return !await this.#hasOlder(client);
    await this.#model.init().then(() => {}, () => {});
    const missing = await missingUnique(this.#model);
    if (missing.length === 0) this.#stands = client;
    this.#missing = new Error(`Unique indexes of "${this.name}" are missing: ${missing}`);
    return missing.length === 0 && !await this.#hasOlder(client);
  }

  /**
   * A unique index from before a class option, such as `tenant`, refuses allowed values. Until it is dropped, the
   * unique indexes count as missing.
   */
  async #hasOlder(client: object): Promise<boolean> {
    if (this.#withoutOlder === client) return false;
    const older = await olderUnique(this.#model);
    if (older.length === 0) this.#withoutOlder = client;
    else this.#missing = new Error(olderText(this.name, older));
    return older.length > 0;
  }

  async isStandingFor(isNeeded: (index: UniqueIndex) => boolean): Promise<boolean> {
    if (this.areBuilt) return true;
    this.#unique ??= uniqueIndexes(this.#model).map(([key, options]) => ({
      fields: [...Object.keys(key).map(topOf), ...fieldsIn(options.partialFilterExpression)],
      isOfAll: !options.sparse && isOfEmpty(options.partialFilterExpression),
      text: JSON.stringify(key),
    }));
    const needed = this.#unique.filter(isNeeded).map(({ text }) => text);
    if (needed.length === 0) return true;
    await waitFor(this.#model.init());
    if (this.areBuilt) return true;
    const missing = await missingUnique(this.#model).catch((error) => {
      // The user may write without the right to list indexes, so no index counts as missing.
      if (error.code === UNAUTHORIZED) return [];
      throw error;
    });
    if (missing.length === 0) this.#stands = this.#model.db.getClient();
    this.#missing = new Error(`Unique indexes of "${this.name}" are missing: ${missing}`);
    if (!missing.some((each) => needed.includes(each))) return true;
    await this.#buildAnew();
    return this.areBuilt;
  }

  /**
   * The connection may be reopened on another deployment during the first build, so each deployment gets another build.
   */
  async #buildAnew(): Promise<void> {
    const client = this.#model.db.getClient();
    if (!buildsIndexes(this.#model) || this.#builtAnew === client) return;
    this.#builtAnew = client;
    await waitFor(this.#model.ensureIndexes());
  }

  #succeed(): void {
    this.#stands = this.#model.db.getClient();
    if (this.#failure !== undefined) logHint(`The indexes of "${this.name}" are built`);
    this.#failure = undefined;
    this.#logged.clear();
    this.#tries = 0;
    this.#unreported.delete(this);
    olderUnique(this.#model).then((older) => {
      const text = olderText(this.name, older);
      if (older.length === 0 || this.#logged.has(text)) return;
      this.#logged.add(text);
      logHint(text);
    }, () => {});
  }

  #fail(error: Error): void {
    const cause = causeOf(error);
    this.#failure = error;
    if (!this.#logged.has(cause)) {
      this.#logged.add(cause);
      this.#unreported.add(this);
      logHint(
        `Cannot build an index of "${this.name}": ${error.message}; it is tried again until it succeeds`,
      );
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#tries++, LONGEST_PAUSE_MS);
    this.#retryIn(pause, this.#model.db.getClient());
  }

  /** The retries end if the connection is reopened on another deployment, which has its own builds. */
  #retryIn(pause: number, client: object): void {
    const retry = () => {
      const { db } = this.#model;
      if (db.getClient() !== client) this.#unreported.delete(this);
      else if (!isOpen(db)) this.#retryIn(FIRST_PAUSE_MS, client);
      else noteBuild(db as Connection, this.#model.ensureIndexes());
    };
    setTimeout(retry, pause).unref();
  }
}

export function buildsIndexes({ db, schema }: Model<unknown>): boolean {
  return ![schema.get("autoIndex"), db.get("autoIndex"), db.base.get("autoIndex")].includes(false);
}

/** Identifiers differ at each attempt, so they are left out to log each cause once. */
function causeOf({ message }: Error): string {
  return message.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\bconnection \d+/g, "");
}

async function missingUnique(model: Model<unknown>): Promise<string[]> {
  const stored = await standingIndexes(model).catch((error: { codeName?: unknown }) => {
    if (error.codeName === "NamespaceNotFound") return [];
    throw error;
  });
  const standing = new Set(
    stored.filter(({ unique }) => unique).map(({ key, ...options }) => identityOf([key, options])),
  );
  return uniqueIndexes(model).filter((index) => !standing.has(identityOf(index)))
    .map(([key]) => JSON.stringify(key));
}

function olderText(name: string, older: readonly string[]): string {
  return `Unique indexes of "${name}" are older than its class options, which need other indexes; drop ${older}`;
}

/** Finds stored unique indexes that the class declares, but that its class options have replaced. */
async function olderUnique(model: Model<unknown>): Promise<string[]> {
  const identities = new Set(
    withCollation(model, declaredIndexes(model.schema as Schema)).map(identityOf),
  );
  for (const each of uniqueIndexes(model)) identities.delete(identityOf(each));
  if (identities.size === 0) return [];
  const stored = await listedIndexes(model).catch((error) => {
    if (error.code === UNAUTHORIZED) return [];
    throw error;
  });
  return stored.filter(({ unique, key, ...options }) =>
    unique && identities.has(identityOf([key, options]))
  )
    .map(({ name }) => name);
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

/** Errors of `$collStats`, which names finished indexes. After such an error, every listed index counts as finished. */
const WITHOUT_STATISTICS: ReadonlySet<unknown> = new Set([9, 13, 115, 304, 323, 40324]);

/** Reads from the primary, because a secondary may not have a new index yet. */
async function listedIndexes({ collection }: Model<unknown>): Promise<StoredIndex[]> {
  return await collection.listIndexes({ readPreference: "primary" }).toArray() as never;
}

/** `listIndexes()` also returns unfinished indexes, which do not enforce uniqueness. */
async function standingIndexes(model: Model<unknown>): Promise<StoredIndex[]> {
  const listed = await listedIndexes(model);
  const stats: StorageStats[] | undefined = await statistics(model).catch((error) => {
    if (WITHOUT_STATISTICS.has(error.code)) return undefined;
    throw error;
  });
  if (stats === undefined || stats.some(({ indexSizes }) => indexSizes === undefined)) {
    return listed;
  }
  const built = new Set(stats.flatMap(({ indexSizes = {} }) => Object.keys(indexSizes)));
  for (const name of stats.flatMap(({ indexBuilds = [] }) => indexBuilds)) built.delete(name);
  return listed.filter(({ name }) => built.has(name));
}

async function statistics({ collection }: Model<unknown>): Promise<StorageStats[]> {
  const stages = [{ $collStats: { storageStats: {} } }];
  const shards = await collection.aggregate(stages, { readPreference: "primary" }).toArray();
  return shards.map(({ storageStats }) => storageStats);
}

export interface UniqueIndex {
  /** A write of these top-level fields must wait for the index. */
  readonly fields: readonly string[];
  /** The index contains entities without its fields, so every create must wait for it. */
  readonly isOfAll: boolean;
  readonly text: string;
}

function topOf(path: string): string {
  return path.split(".", 1)[0] ?? path;
}

/** A write of a field in a partial index's filter can add an entity to the index. */
function fieldsIn(condition: unknown): string[] {
  return Object.entries(Object(condition)).flatMap(([name, value]) =>
    name.startsWith("$") ? [value].flat().flatMap(fieldsIn) : [topOf(name)]
  );
}

/** A filter `{ field: null }` matches entities without the field, so the index contains them. */
function isOfEmpty(condition: unknown): boolean {
  return Object.values(Object(condition)).every((value) => value === null);
}

interface UniqueOptions {
  readonly unique?: unknown;
  readonly sparse?: unknown;
  readonly partialFilterExpression?: unknown;
  readonly collation?: { readonly locale?: string; readonly strength?: number };
}

function identityOf([key, options]: IndexDefinition): string {
  const { sparse, partialFilterExpression = null, collation } = options;
  const { locale = "simple", strength = 3 } = collation ?? {};
  const compared = locale === "simple" ? null : [locale, strength];
  return JSON.stringify([key, partialFilterExpression, Boolean(sparse), compared]);
}

type IndexDefinition = readonly [key: object, options: UniqueOptions];

function uniqueIndexes(model: Model<unknown>): IndexDefinition[] {
  return withCollation(model, model.schema.indexes() as SchemaIndex[]);
}

function withCollation(
  { schema }: Model<unknown>,
  indexes: readonly SchemaIndex[],
): IndexDefinition[] {
  const { collation } = (schema as Schema).options as UniqueOptions;
  return indexes.filter(([, { unique }]) => unique)
    .map(([key, options]) => [key, { ...collation && { collation }, ...options } as object]);
}

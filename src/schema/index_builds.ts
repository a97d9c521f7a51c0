import { setTimeout } from "node:timers";
import type { Model, Schema } from "mongoose";
import { logHint } from "../errors/log.ts";
import { whenOpen } from "./mongoose/connections/when_open.ts";

/** The pause before an index build is tried for the second time; it doubles from try to try. */
const FIRST_PAUSE_MS = 1000;

/** The longest pause before a try. */
const LONGEST_PAUSE_MS = 60_000;

/** Mongoose's number for a connection that is open. */
const OPEN = 1;

const builds = new WeakMap<Model<unknown>, IndexBuilds>();

/** Those of whose failures no host was told yet. */
const untold = new Set<IndexBuilds>();

/** Watches the index builds of a model from its start. */
export function watchIndexes(model: Model<unknown>, name: string): void {
  builds.set(model, new IndexBuilds(model, name));
}

/** Gives the index builds of a model. */
export function indexBuilds(model: Model<unknown>): IndexBuilds | undefined {
  return builds.get(model);
}

/** Whether there is a failure of any model that no host was told of yet. */
export function hasUntoldFailures(): boolean {
  return untold.size > 0;
}

/** The index builds of one model on one connection: one that fails is repeated until it succeeds. */
export class IndexBuilds {
  readonly #model: Model<unknown>;
  readonly #name: string;
  #failure: Error | undefined;
  #missing: Error | undefined;
  #tries = 0;
  #stands: object | undefined;
  #checking: Promise<boolean> | undefined;

  /**
   * @param model The model.
   * @param name The name of its class.
   */
  constructor(model: Model<unknown>, name: string) {
    this.#model = model;
    this.#name = name;
    model.on("index", (error?: Error) => error ? this.#fail(error) : this.#succeed());
  }

  /** Why unique indexes do not stand: the last build failed, or nobody has built them. */
  get failure(): Error | undefined {
    return this.#failure ?? this.#missing;
  }

  /** Takes the failure that the host was not told of yet. */
  takeUntold(): Error | undefined {
    return untold.delete(this) ? this.#failure : undefined;
  }

  /** Whether all unique indexes stand, on the deployment that the connection leads to. */
  async areUniqueStanding(): Promise<boolean> {
    if (!this.#model.schema.indexes().some(([, options]) => options.unique)) return true;
    if (this.#stands === this.#model.db.getClient()) return true;
    const checking = this.#checking ??= this.#check();
    try {
      return await checking;
    } finally {
      this.#checking = undefined;
    }
  }

  async #check(): Promise<boolean> {
    const client = this.#model.db.getClient();
    await this.#model.init().then(() => {}, () => {});
    const missing = await missingUnique(this.#model);
    if (missing.length === 0) this.#stands = client;
    this.#missing = new Error(`Unique indexes of "${this.#name}" are missing: ${missing}`);
    return missing.length === 0;
  }

  #succeed(): void {
    if (this.#failure !== undefined) logHint(`The indexes of "${this.#name}" are built`);
    this.#failure = undefined;
    this.#tries = 0;
    untold.delete(this);
  }

  #fail(error: Error): void {
    const isNew = this.#failure?.message !== error.message;
    this.#failure = error;
    if (isNew) {
      untold.add(this);
      logHint(
        `Cannot build an index of "${this.#name}": ${error.message}; it is tried again until it succeeds`,
      );
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.#tries++, LONGEST_PAUSE_MS);
    const client = this.#model.db.getClient();
    setTimeout(() => this.#retry(client), pause).unref();
  }

  /** Builds again on the same deployment: what is opened elsewhere later has indexes of its own. */
  #retry(client: object): void {
    const { db } = this.#model;
    if (db.getClient() !== client) untold.delete(this);
    else if (db.readyState !== OPEN) whenOpen(db, () => this.#retry(client));
    // Mongoose tells of the result by an event.
    else this.#model.ensureIndexes().catch(() => {});
  }
}

/** An index as Mongoose and the database describe it. */
interface IndexDescription {
  readonly key: object;
  readonly unique?: boolean;
  readonly collation?: object;
}

/** Gives the keys of the unique indexes that the database does not have, as JSON. */
async function missingUnique(model: Model<unknown>): Promise<string[]> {
  const { toCreate } = await model.diffIndexes({ indexOptionsToCreate: true });
  const missing = (toCreate as unknown[]).map(describeIndex)
    .filter(({ unique = false }) => unique);
  const { collation }: { collation?: object } = (model.schema as Schema).options;
  // Mongoose builds indexes with the collation of their schema, and looks for them without it.
  const stored = missing.length > 0 && collation !== undefined
    ? await model.listIndexes() as unknown as IndexDescription[]
    : [];
  const isStored = (each: IndexDescription) =>
    each.collation === undefined &&
    stored.some((other) =>
      other.unique === true && JSON.stringify(other.key) === JSON.stringify(each.key) &&
      includes(other.collation, collation)
    );
  return missing.filter((each) => !isStored(each)).map(({ key }) => JSON.stringify(key));
}

/** Whether a collation says the same as another one, and maybe more: the database adds what was left out. */
function includes(stored: object = {}, collation: object = {}): boolean {
  const said = new Map(Object.entries(stored));
  return Object.entries(collation).every(([name, value]) => said.get(name) === value);
}

/** Reads an index that Mongoose misses; one that is told in another form may be unique. */
function describeIndex(index: unknown): IndexDescription {
  if (!Array.isArray(index)) return { key: Object(index), unique: true };
  const [key, options] = index as [object, Partial<IndexDescription> | undefined];
  return { ...options, key, unique: Boolean(options?.unique) };
}

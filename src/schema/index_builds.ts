import { setTimeout } from "node:timers";
import type { Model } from "mongoose";
import { logHint } from "../errors/log.ts";
import { whenOpen } from "../mapper/when_open.ts";

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

  /** Why the last build failed; `undefined` if it did not. */
  get failure(): Error | undefined {
    return this.#failure;
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
    const missing = await this.#model.diffIndexes({ indexOptionsToCreate: true });
    const stand = !(missing.toCreate as unknown[]).some(isUnique);
    if (stand) this.#stands = client;
    return stand;
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

/** Whether an index that Mongoose misses is unique; one that is told in another form may be. */
function isUnique(index: unknown): boolean {
  if (!Array.isArray(index)) return true;
  const [, options] = index as [unknown, { unique?: unknown } | undefined];
  return Boolean(options?.unique);
}

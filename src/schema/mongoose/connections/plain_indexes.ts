import type { Model } from "mongoose";

/** An index that has every document of its collection, in the usual order of values. */
export interface PlainIndex {
  readonly name: string;
  readonly keys: Readonly<Record<string, 1 | -1>>;
}

/** How long an index counts as the one that was seen: others may put another one in its place, under its name. */
const TRUSTED_MS = 10_000;

/** The plain indexes of a model that have been built in this process, and that its database has. */
export class PlainIndexes {
  readonly #model: Model<unknown>;
  #built: readonly PlainIndex[] = [];
  #standing: readonly PlainIndex[] = [];
  #client: object | undefined;
  #trustedUntil = 0;
  #looking: Promise<void> | undefined;

  constructor(model: Model<unknown>) {
    this.#model = model;
    model.on(
      "index-single-done",
      (error: Error | null, keys: object, options: object, name: string) => {
        if (!error) this.#add({ keys, options, name });
      },
    );
  }

  /** Those on the deployment that the connection leads to. */
  get standing(): readonly PlainIndex[] {
    return this.#client === this.#model.db.getClient() ? this.#standing : [];
  }

  /** Forgets them for a while: the database does not take one of them. */
  forget(): void {
    this.#standing = [];
  }

  /** Looks at the indexes of the database, if the last look is too long ago: before one, none stands. */
  async confirm(): Promise<void> {
    if (this.#built.length === 0 || performance.now() < this.#trustedUntil) return;
    this.#looking ??= this.#look().finally(() => this.#looking = undefined);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { collection } = this.#model;
    const stored = await collection.indexes().then(
      (found) => new Map(found.map((each) => [each.name, each] as const)),
      // Without a look nothing is known. The query of the page tells of an error.
      () => new Map<string, { readonly key: object }>(),
    );
    this.#standing = this.#built.filter(({ name, keys }) => {
      const { key = {}, ...options } = stored.get(name) ?? {};
      return isPlain(key, options) && JSON.stringify(key) === JSON.stringify(keys);
    });
    this.#trustedUntil = performance.now() + TRUSTED_MS;
  }

  #add({ keys, options, name }: { keys: object; options: object; name: string }): void {
    const client = this.#model.db.getClient();
    const known = client === this.#client ? this.#built.filter((each) => each.name !== name) : [];
    this.#built = isPlain(keys, options) ? [...known, { name, keys }] : known;
    this.#standing = [];
    this.#client = client;
    this.#trustedUntil = 0;
  }
}

/** Options of an index that change neither what it has nor its order. */
const PLAIN_OPTIONS = new Set([
  "name",
  "v",
  "background",
  "unique",
  "expireAfterSeconds",
  "writeConcern",
  "w",
  "j",
  "wtimeout",
]);

function isPlain(keys: object, options: object): keys is PlainIndex["keys"] {
  return Object.values(keys).every((direction) => direction === 1 || direction === -1) &&
    Object.entries(options).every(([name, value]) => !value || PLAIN_OPTIONS.has(name));
}

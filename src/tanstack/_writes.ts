import type { Entity, SyncedList } from "./_synced_list.ts";

/** @internal */
export interface Mutation {
  readonly type: "insert" | "update" | "delete";
  readonly mutationId: string;
  readonly key: string;
  readonly original: object;
  readonly modified: object;
  readonly changes: object;
  readonly collection: object;
}

/** @internal */
export interface Mutations {
  readonly mutations: readonly Mutation[];
}

export interface Source<T> {
  all(options: object): Promise<{ readonly items: T[] }>;
  each(options: object): AsyncIterable<T>;
  live(options: object): AsyncIterable<T[]>;
  one(id: string): Promise<T>;
  create(body: object, options: object): Promise<T | undefined>;
  update(id: string, body: object, options: object): Promise<T | undefined>;
  remove(id: string, options: object): Promise<void>;
}

const TEMPORARY = "temporary:";

/**
 * Returns a temporary `_id` for a new row, until the server has created the entity. If your clients choose the `_id`,
 * you need no temporary one.
 */
export function temporaryId(): string {
  // On pages without HTTPS, `crypto.randomUUID()` is missing.
  return TEMPORARY + crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/** An `_id` in JSON may be a number, which has no `startsWith()`. */
function isTemporary(id: string | number): boolean {
  return String(id).startsWith(TEMPORARY);
}

export class Writes<T extends Entity> {
  readonly #source: Source<T>;
  readonly #list: SyncedList<T>;
  readonly #refresh: () => Promise<void>;
  readonly #latest = new Map<string, Promise<void>>();
  /** The `_id` of each created entity, by the key of its row, which may be temporary. */
  readonly #ids = new Map<string, string>();

  constructor(source: Source<T>, { list, refresh }: {
    readonly list: SyncedList<T>;
    readonly refresh: () => Promise<void>;
  }) {
    this.#source = source;
    this.#list = list;
    this.#refresh = refresh;
  }

  /**
   * A change waits for earlier changes of the same row, because it needs the `_id` and the version that they return. A
   * transaction waits as a whole, so that all transactions change common rows in one order.
   */
  send(mutations: readonly Mutation[]): Promise<void> {
    const keys = mutations.map(({ key }) => key);
    const earlier = Promise.allSettled(keys.map((key) => this.#latest.get(key)));
    const sent = earlier.then(async () => {
      try {
        for (const mutation of mutations) await this.#sendOne(mutation);
      } finally {
        for (const key of keys) if (this.#latest.get(key) === sent) this.#latest.delete(key);
      }
    });
    for (const key of keys) this.#latest.set(key, sent);
    return sent;
  }

  async #sendOne({ type, key, mutationId, original, modified, changes }: Mutation): Promise<void> {
    if (type === "insert") {
      const { _id, __v, ...rest } = modified as Entity;
      const body = isTemporary(_id) ? rest : { _id, ...rest };
      const headers = { "idempotency-key": mutationId };
      const row = await this.#source.create(body, { headers });
      if (row) this.#ids.set(key, row._id);
      return row ? this.#list.add(row._id, row, true) : await this.#refreshQuietly();
    }
    const id = this.#ids.get(key) ?? key;
    if (isTemporary(id)) throw new Error(`Cannot ${type} the row: it was not created`);
    const options = { ifMatch: this.#match(id, original) };
    try {
      if (type === "delete") {
        await this.#source.remove(id, options);
        this.#list.add(id, undefined);
      } else {
        const row = await this.#source.update(
          id,
          patchOf(changes, { original, modified }),
          options,
        );
        if (row) this.#list.add(id, row);
        else await this.#refreshQuietly();
      }
    } catch (error) {
      if ([404, 412].includes(Object(error).status)) await this.#reread(id);
      throw error;
    }
  }

  /**
   * The value of `If-Match` is the version that the user has seen, or a later version that this client has made. If
   * another client changes the entity, the changed row of the user keeps the earlier version, so the server refuses to
   * overwrite.
   */
  #match(id: string, { __v: seen }: { readonly __v?: unknown }): string | undefined {
    const made = this.#list.versionOf(id);
    if (typeof seen !== "number") return made === undefined ? undefined : `"${made}"`;
    return `"${Math.max(seen, made ?? 0)}"`;
  }

  /** Shows the change of another client, so that the user can repeat the refused change. */
  async #reread(id: string): Promise<void> {
    try {
      this.#list.show(id, await this.#source.one(id));
    } catch {
      await this.#refreshQuietly();
    }
  }

  /** A failed read must neither hide the error of a write nor undo a stored write. */
  async #refreshQuietly(): Promise<void> {
    await this.#refresh().catch(() => {});
  }
}

interface Change {
  readonly original: object;
  readonly modified: object;
}

/** A merge patch of the changed properties, in which `null` removes a property. */
function patchOf(changes: object, { original, modified }: Change): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(changes)) {
    const before = Object(original)[key];
    const after = Object(modified)[key];
    if (isObject(before) && isObject(after)) {
      const inner = patchOf({ ...before, ...after }, { original: before, modified: after });
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (JSON.stringify(before) !== JSON.stringify(after)) patch[key] = after ?? null;
  }
  return patch;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

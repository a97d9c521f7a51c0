export interface Entity {
  readonly _id: string;
  readonly __v?: unknown;
}

/** @internal */
export type SyncWrite<T> =
  | { readonly type: "insert" | "update"; readonly value: T }
  | { readonly type: "delete"; readonly key: string };

/** @internal The functions of TanStack DB that write the rows, which `sync()` of a collection gets. */
export interface SyncParams<T> {
  readonly collection: object;
  readonly begin: () => void;
  readonly write: (write: SyncWrite<T>) => void;
  readonly commit: () => unknown;
  readonly markReady: () => void;
  readonly markError: (error?: unknown) => void;
}

export interface Outcome<T> {
  /** `undefined` after a removal. */
  readonly row: T | undefined;
  readonly version: unknown;
  /** The row of the list when the server answered the write. */
  readonly listed: T | undefined;
  /**
   * Whether the list of the server has ever contained the row. If such a row is missing now, it has left the list, and
   * the collection drops the outcome of the write. A row that was never listed may still come with the event of its
   * creation.
   */
  wasListed: boolean;
}

/**
 * How long a live list may take to show a written entity. After this time, the list does not contain it, for example
 * because of the filter, so the collection drops the outcome of the write.
 */
const LATEST_MS = 5000;

/** The rows of a collection: the list of the server, and outcomes of writes that the list does not have yet. */
export class SyncedList<T extends Entity> {
  readonly #isLive: boolean;
  #params: SyncParams<T> | undefined;
  #listed = new Map<string, T>();
  #outcomes = new Map<string, Outcome<T>>();
  #shown = new Map<string, T>();
  /**
   * The version after the last write of this client, by `_id`. The next write sends it in `If-Match`, because the row
   * of the user may still have the version before.
   */
  readonly #versions = new Map<string, number>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  /** Whether a live list has lost its connection, and may lack entities. */
  isBroken = false;

  constructor(isLive: boolean) {
    this.#isLive = isLive;
  }

  /** A copy of the outcomes so far. A list that the client begins to read now will contain them. */
  get outcomes(): ReadonlyMap<string, Outcome<T>> {
    return new Map(this.#outcomes);
  }

  versionOf(key: string): number | undefined {
    return this.#versions.get(key);
  }

  open(params: SyncParams<T>): void {
    this.#params = params;
  }

  close(): void {
    this.#params = undefined;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const map of [this.#listed, this.#outcomes, this.#shown, this.#versions]) map.clear();
  }

  /** Replaces the list by a new list of the server, and forgets the outcomes `contained` in the new list. */
  take(list: Iterable<T>, contained: ReadonlyMap<string, Outcome<T>> = new Map()): void {
    this.isBroken = false;
    this.#listed = new Map(Array.from(list, (row) => [row._id, row]));
    for (const [key, outcome] of contained) this.#forget(key, outcome);
    this.#publish();
  }

  add(key: string, row: T | undefined, isNew = false): void {
    const { __v: version } = row ?? this.#shown.get(key) ?? {};
    if (!this.#keep(key, { row, version, isNew })) return;
    if (typeof version === "number") this.#versions.set(key, version);
    this.#publish();
  }

  /**
   * Shows the change of another client. Waiting writes must not send the new version in `If-Match`, or else they would
   * overwrite the change, so `#versions` does not get it.
   */
  show(key: string, row: T): void {
    if (this.#keep(key, { row, version: row.__v, isNew: false })) this.#publish();
  }

  /**
   * Ignores an outcome whose entity has left the list, for example because the update no longer matches the filter.
   * Otherwise, the entity would appear again.
   */
  #keep(
    key: string,
    { isNew, ...rest }: Pick<Outcome<T>, "row" | "version"> & { readonly isNew: boolean },
  ): boolean {
    const listed = this.#listed.get(key);
    if (!this.#params || !isNew && !listed && !this.#outcomes.has(key)) return false;
    const outcome = { ...rest, listed, wasListed: listed !== undefined };
    this.#outcomes.set(key, outcome);
    if (this.#isLive) this.#expire(key, outcome);
    return true;
  }

  #expire(key: string, outcome: Outcome<T>): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (this.isBroken) this.#expire(key, outcome);
      else if (this.#forget(key, outcome)) this.#publish();
    }, LATEST_MS);
    this.#timers.add(timer);
  }

  #forget(key: string, outcome: Outcome<T>): boolean {
    return this.#outcomes.get(key) === outcome && this.#outcomes.delete(key);
  }

  /**
   * Writes changed rows to TanStack DB, which shows them instead of optimistic rows when no change is on its way to the
   * server. Rows are compared by identity, because a live list repeats the object of an unchanged entity.
   */
  #publish(): void {
    const rows = new Map(this.#listed);
    for (const [key, outcome] of this.#outcomes) {
      const listed = this.#listed.get(key);
      if (isOver(outcome, listed)) this.#outcomes.delete(key);
      else if (outcome.row) rows.set(key, outcome.row);
      else rows.delete(key);
      outcome.wasListed ||= listed !== undefined;
    }
    const writes: SyncWrite<T>[] = [];
    for (const [key, value] of rows) {
      const shown = this.#shown.get(key);
      if (shown === value) continue;
      writes.push({ type: shown ? "update" : "insert", value });
      // A lower version belongs to a new entity with the same `_id`, whose writes would fail with the old version.
      if (Number(value.__v) < (this.#versions.get(key) ?? 0)) this.#versions.delete(key);
    }
    for (const key of this.#shown.keys()) {
      if (rows.has(key)) continue;
      writes.push({ type: "delete", key });
      this.#versions.delete(key);
    }
    this.#shown = rows;
    if (!this.#params || writes.length === 0) return;
    this.#params.begin();
    for (const write of writes) this.#params.write(write);
    this.#params.commit();
  }
}

/**
 * Whether the list has the written row or a later one, so that the outcome is obsolete. Embedded entities have no
 * version, so any row except the row before the write counts as later.
 */
function isOver<T extends Entity>(
  { row, version, listed: before, wasListed }: Outcome<T>,
  listed: T | undefined,
): boolean {
  if (!listed) return wasListed;
  if (typeof version !== "number" || typeof listed.__v !== "number") return listed !== before;
  return row ? listed.__v >= version : listed.__v > version;
}

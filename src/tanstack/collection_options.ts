import type { Settable } from "../client/types/body.ts";
import type { Json, Resource } from "../client/mod.ts";
import type { LiveCallOptions } from "../client/types/options.ts";
import { type Entity, SyncedList, type SyncParams } from "./_synced_list.ts";
import { type Mutations, type Source, Writes } from "./_writes.ts";

/**
 * A row of a collection, which is an entity in JSON. Until its creation, it lacks fields that only the server sets,
 * such as `__v`.
 */
export type Row<M> =
  & { readonly _id: string }
  & { [K in keyof Json<M> as K extends SettableName<M> ? K : never]: Json<M>[K] }
  & { [K in keyof Json<M> as K extends "_id" | SettableName<M> ? never : K]?: Json<M>[K] };

/** @internal */
export type SettableName<M> = { [K in keyof M]: Settable<M, K> }[keyof M];

/** The options of the client that select the entities of a collection. */
export type ListQuery<M> = Pick<
  LiveCallOptions<M, never, never, never>,
  "headers" | "limit" | "parameters" | "q" | "search" | "skip" | "sort"
>;

/** Options of {@linkcode collectionOptions}. */
export interface CollectionOptions<M>
  extends Pick<LiveCallOptions<M, never, never, never>, "onDisconnect"> {
  /**
   * Whether the collection shows changes of the list by any client. The route needs `all({ live: true })`.
   *
   * @default {false}
   */
  readonly live?: boolean | undefined;
  /** The filter and other parameters of the list. With `limit`, the collection has one page. */
  readonly query?: ListQuery<M> | undefined;
}

/** The functions in `utils` of a collection. */
export type CollectionUtils = {
  /**
   * Reads the list again, unless it is live.
   *
   * @returns A promise that resolves when the collection has the list.
   */
  readonly refetch: () => Promise<void>;
  /**
   * Sends the changes of a transaction in this collection one after the other, for the `mutationFn` of your own
   * transactions. After a refused change, no further change is sent, but the earlier ones stay stored.
   *
   * @returns A promise that rejects with the `ApiError` of the refused change.
   */
  readonly persist: (transaction: Mutations) => Promise<void>;
};

/** The options of `createCollection()` of TanStack DB. Each collection needs new ones, because they hold its rows. */
export interface ResourceConfig<T extends object> {
  /** Returns the `_id`. */
  readonly getKey: (row: T) => string;
  /** Follows the list of the server. */
  readonly sync: {
    /** Begins to follow the list, and returns the function that ends this. */
    readonly sync: (params: SyncParams<T>) => () => void;
    /** Each write has the whole row. */
    readonly rowUpdateMode: "full";
  };
  /** Creates entities. */
  readonly onInsert: (params: { readonly transaction: Mutations }) => Promise<void>;
  /** Updates entities. */
  readonly onUpdate: (params: { readonly transaction: Mutations }) => Promise<void>;
  /** Removes entities. */
  readonly onDelete: (params: { readonly transaction: Mutations }) => Promise<void>;
  /** The functions in `utils`. */
  readonly utils: CollectionUtils;
}

const OPTIONS = ["live", "query", "onDisconnect"];
const PARAMETERS = ["headers", "limit", "parameters", "q", "search", "skip", "sort"];

/**
 * Returns the options of a collection of TanStack DB with the entities of a route. Changes of the collection are shown
 * at once and sent to the server. A refused change is rolled back, and `isPersisted.promise` of its transaction rejects
 * with the `ApiError`.
 *
 * @param resource The resource of the route. With `{ idempotency: true }`, the client repeats creations.
 * @throws {TypeError} If an option is wrong.
 */
export function collectionOptions<M extends object>(
  resource: Resource<M>,
  options: CollectionOptions<M> = {},
): ResourceConfig<Row<M>> {
  checkNames(options, OPTIONS);
  checkKinds(options);
  checkNames(options.query ?? {}, PARAMETERS);
  return mapResource(resource as unknown as Source<Row<M>>, options);
}

function mapResource<M, T extends Entity>(
  source: Source<T>,
  { live = false, query = {}, onDisconnect }: CollectionOptions<M>,
): ResourceConfig<T> {
  const list = new SyncedList<T>(live);
  let run: { readonly params: SyncParams<T>; readonly signal: AbortSignal } | undefined;
  let collection: object | undefined;
  const turns = { begun: 0, taken: 0 };
  const refetch = async () => {
    if (live || !run) return;
    const { params, signal } = run;
    const turn = ++turns.begun;
    const contained = list.outcomes;
    const rows = await readAll(source, { ...query, signal });
    // The collection already has a list that was requested later, or has ended.
    if (turn < turns.taken || signal.aborted) return;
    turns.taken = turn;
    list.take(rows, contained);
    params.markReady();
  };
  const follow = async ({ markReady }: SyncParams<T>, signal: AbortSignal) => {
    if (!live) return await refetch();
    const noteBreak = (error: unknown) => {
      list.isBroken = true;
      onDisconnect?.(error);
    };
    for await (const rows of source.live({ ...query, signal, onDisconnect: noteBreak })) {
      if (signal.aborted) return;
      list.take(rows);
      markReady();
    }
  };
  const sync = (params: SyncParams<T>) => {
    if (run) throw new Error("Cannot begin: the options belong to another collection");
    const controller = new AbortController();
    const { signal } = controller;
    ({ collection } = params);
    run = { params, signal };
    list.open(params);
    follow(params, signal).catch((error) => signal.aborted || params.markError(error));
    return () => {
      controller.abort();
      run = undefined;
      list.close();
    };
  };
  const writes = new Writes(source, { list, refresh: refetch });
  const send = ({ transaction: { mutations } }: { readonly transaction: Mutations }) =>
    writes.send(mutations);
  const persist = ({ mutations }: Mutations) =>
    writes.send(mutations.filter((mutation) => mutation.collection === collection));
  return {
    getKey: ({ _id }) => _id,
    sync: { sync, rowUpdateMode: "full" },
    onInsert: send,
    onUpdate: send,
    onDelete: send,
    utils: { refetch, persist },
  };
}

interface Reading {
  readonly limit?: number | undefined;
  readonly signal: AbortSignal;
}

async function readAll<T>(source: Source<T>, options: Reading): Promise<T[]> {
  if (options.limit !== undefined) return (await source.all(options)).items;
  const rows: T[] = [];
  for await (const row of source.each(options)) rows.push(row);
  return rows;
}

function checkNames(options: object, known: readonly string[]): void {
  const wrong = Object.keys(options).find((name) => !known.includes(name));
  if (wrong !== undefined) throw wrongOptions(`there is no option "${wrong}"`);
}

function checkKinds(
  { live = false, query = {}, onDisconnect }: {
    readonly [N in keyof CollectionOptions<object>]: unknown;
  },
): void {
  if (typeof live !== "boolean") throw wrongOptions('"live" is not a boolean');
  if (Object.prototype.toString.call(query) !== "[object Object]") {
    throw wrongOptions('"query" is not an object');
  }
  if (onDisconnect !== undefined && typeof onDisconnect !== "function") {
    throw wrongOptions('"onDisconnect" is not a function');
  }
}

function wrongOptions(problem: string): TypeError {
  return new TypeError(`Cannot make a collection: ${problem}`);
}

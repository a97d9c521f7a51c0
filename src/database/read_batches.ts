import mongoose from "mongoose";
import type { Connection, Cursor, mongo } from "mongoose";
import { Buffer } from "node:buffer";
import { nextTurn } from "../errors/event_loop.ts";
import type { TimeBudget } from "./time_budget.ts";

/** Documents: the bytes of a BSON array, as the database sent it. */
export interface Batch {
  readonly array: Buffer;
  readonly start: number;
}

type OpenCursor = mongo.FindCursor | mongo.AggregationCursor;

/** Reads a cursor without the option `raw`: the driver would apply it to error replies too. */
export async function* readBatches(
  cursor: OpenCursor,
  { timeBudget, listOf }: {
    /** Without it, the caller bounds the waits. */
    readonly timeBudget?: TimeBudget | undefined;
    /** The connection of a list that may be long. */
    readonly listOf?: Connection | undefined;
  } = {},
): AsyncGenerator<Batch> {
  const reads = listOf && ListReads.of(listOf);
  const read = () => cursor.hasNext();
  const wait = (next: Promise<boolean>) => timeBudget?.waitForNext(next) ?? next;
  try {
    while (await wait(reads?.run(read) ?? read())) {
      yield takeReply(cursor as ReplyCursor) ?? encoded(cursor.readBufferedDocuments());
      // The driver closes a cursor with its last batch: to ask for another one would take a wait.
      if (cursor.closed) return;
    }
  } finally {
    if (!cursor.closed) cursor.close().catch(() => {});
  }
}

const MADE_AT_ONCE = 32;

/** Reads a cursor of Mongoose, some documents in each turn of the event loop. */
export async function* readDocuments(
  cursor: Cursor<object | null, unknown>,
  { timeBudget, model, page }: {
    readonly timeBudget: TimeBudget;
    readonly model: { readonly db: Connection };
    /** A page is short: it does not wait for lists. */
    readonly page?: unknown;
  },
): AsyncGenerator<readonly object[]> {
  const reads = page === undefined ? ListReads.of(model.db) : undefined;
  const read = async () => {
    const taken: object[] = [];
    while (taken.length < MADE_AT_ONCE) {
      const next = await cursor.next();
      if (next === null) break;
      taken.push(next);
    }
    return taken;
  };
  try {
    for (;;) {
      const found = await timeBudget.waitForNext(reads?.run(read) ?? read());
      if (found.length > 0) yield found;
      if (found.length < MADE_AT_ONCE) return;
      if (reads !== undefined) await nextTurn();
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

/** The connections that are counted in a pool without a limit. */
const UNLIMITED = 100;

/** The reads of all lists from one pool of connections: they take at most half of it, the rest is for short requests. */
class ListReads {
  static readonly #all = new WeakMap<object, ListReads>();
  readonly #waiting: (() => void)[] = [];
  #free: number;

  private constructor(free: number) {
    this.#free = free;
  }

  static of(connection: Connection): ListReads {
    const client = connection.getClient();
    const limit = Math.max(1, Math.floor((client.options.maxPoolSize || UNLIMITED) / 2));
    const reads = this.#all.get(client) ?? new ListReads(limit);
    this.#all.set(client, reads);
    return reads;
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/** The driver's cursor, with the reply that is not in its types. Without one, it reads the next. */
interface ReplyCursor {
  readonly documents?: {
    readonly iterated?: unknown;
    readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
    clear?(): void;
  } | null;
}

/** Takes the bytes of a reply, and drops the driver's list of its documents: a stalled client would keep it in memory. */
function takeReply(cursor: ReplyCursor): Batch | undefined {
  const { documents: reply } = cursor;
  const { bson, offset } = reply?.batch ?? {};
  const known = bson instanceof Uint8Array && typeof offset === "number" &&
    reply?.iterated === 0 && typeof reply.clear === "function";
  if (!known) return undefined;
  reply.clear?.();
  Reflect.set(cursor, "documents", null);
  return { array: Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength), start: offset };
}

/** Encodes what the driver has decoded, where it is not known to keep its reply. */
function encoded(documents: readonly object[]): Batch {
  const array = encodeBson({ ...documents });
  if (array !== undefined) return { array, start: 0 };
  throw new TypeError("Cannot read a stored value that the driver has decoded with a loss");
}

/** Gives the bytes of a document that the driver has decoded; `undefined` where they would not be those that are stored. */
export function encodeBson(values: object): Buffer | undefined {
  if (!isLossless(values)) return undefined;
  const bytes = mongoose.mongo.BSON.serialize(values, { ignoreUndefined: false });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether a value was decoded without a loss: JavaScript has no date beyond its range, and other expressions. */
function isLossless(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (value instanceof RegExp) return false;
  if ("_bsontype" in value) return true;
  return Object.values(value).every(isLossless);
}

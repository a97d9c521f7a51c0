import mongoose from "mongoose";
import type { Connection, Cursor, mongo } from "mongoose";
import { Buffer } from "node:buffer";
import { nextTurn } from "../errors/event_loop.ts";
import { StatementTurns } from "./statement_turns.ts";
import type { TimeBudget } from "./time_budget.ts";

/** A BSON array as MongoDB has sent it, from the byte `start` on. */
export interface Batch {
  readonly array: Buffer;
  readonly start: number;
}

type OpenCursor = mongo.FindCursor | mongo.AggregationCursor;

/**
 * Batches stay bytes, because decoding is slow. The driver's option `raw` would also return bytes for error replies.
 */
export async function* readBatches(
  cursor: OpenCursor,
  { timeBudget, listOf }: {
    /** Without `timeBudget`, the caller must limit the time. */
    readonly timeBudget?: TimeBudget | undefined;
    /** Set for a long list, whose reads then use at most half of the connection pool. */
    readonly listOf?: Connection | undefined;
  } = {},
): AsyncGenerator<Batch> {
  const reads = listOf && LIST_READS.of(listOf);
  const read = () => cursor.hasNext();
  const wait = (next: Promise<boolean>) => timeBudget?.waitForNext(next) ?? next;
  try {
    while (await wait(reads?.run(read) ?? read())) {
      yield takeReply(cursor as ReplyCursor) ?? encoded(cursor.readBufferedDocuments());
      // The driver closes a cursor with its last batch. Another `hasNext()` could wait for a free connection in vain.
      if (cursor.closed) return;
    }
  } finally {
    if (!cursor.closed) cursor.close().catch(() => {});
  }
}

/** So many documents are made before other requests get a turn of the event loop. */
export const MADE_AT_ONCE = 32;

export const POPULATED_AT_ONCE = 128;

export async function* readDocuments(
  cursor: Cursor<object | null, unknown>,
  { timeBudget, model, page }: {
    readonly timeBudget: TimeBudget;
    readonly model: { readonly db: Connection };
    readonly page?: unknown;
  },
): AsyncGenerator<readonly object[]> {
  const reads = page === undefined ? LIST_READS.of(model.db) : undefined;
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

const LIST_READS = new StatementTurns();

/** The driver does not declare a cursor's last reply. `null` makes the cursor ask for the next batch. */
interface ReplyCursor {
  readonly documents?: {
    readonly iterated?: unknown;
    readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
    clear?(): void;
  } | null;
}

/** Empties the cursor, which would keep the reply in memory while a slow client reads. */
function takeReply(cursor: ReplyCursor): Batch | undefined {
  const { documents: reply } = cursor;
  const { bson, offset } = reply?.batch ?? {};
  const isKnown = bson instanceof Uint8Array && typeof offset === "number" &&
    reply?.iterated === 0 && typeof reply.clear === "function";
  if (!isKnown) return undefined;
  reply.clear?.();
  Reflect.set(cursor, "documents", null);
  return { array: Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength), start: offset };
}

function encoded(documents: readonly object[]): Batch {
  const array = encodeBson({ ...documents });
  if (array !== undefined) return { array, start: 0 };
  throw new TypeError("Cannot read a stored value that the driver has decoded with a loss");
}

/** Returns `undefined` if the bytes would differ from the stored ones. */
export function encodeBson(values: object): Buffer | undefined {
  if (!isLossless(values)) return undefined;
  const bytes = mongoose.mongo.BSON.serialize(values, { ignoreUndefined: false });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** JavaScript cannot hold all dates and regular expressions of MongoDB. */
function isLossless(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (value instanceof RegExp) return false;
  if ("_bsontype" in value) return true;
  return Object.values(value).every(isLossless);
}

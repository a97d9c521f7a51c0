import mongoose from "mongoose";
import type { Connection, Cursor, mongo } from "mongoose";
import { Buffer } from "node:buffer";
import { nextTurn } from "../errors/event_loop.ts";
import { StatementTurns } from "./statement_turns.ts";
import type { TimeBudget } from "./time_budget.ts";

/**
 * The documents of one batch of a query as the BSON array that the database has sent. The array begins at the byte
 * `start`.
 */
export interface Batch {
  readonly array: Buffer;
  readonly start: number;
}

type OpenCursor = mongo.FindCursor | mongo.AggregationCursor;

/**
 * Reads the batches of a cursor as bytes, so that an answer can be written without decoding the documents. The cursor
 * must not have the driver's option `raw`, because the driver would apply this option to error replies too.
 */
export async function* readBatches(
  cursor: OpenCursor,
  { timeBudget, listOf }: {
    /** The time limit of the read. Without `timeBudget`, the caller must limit the time. */
    readonly timeBudget?: TimeBudget | undefined;
    /**
     * The connection, if the list may be long. All reads of long lists together use at most half of the connection
     * pool, so that short requests find a free connection.
     */
    readonly listOf?: Connection | undefined;
  } = {},
): AsyncGenerator<Batch> {
  const reads = listOf && LIST_READS.of(listOf);
  const read = () => cursor.hasNext();
  const wait = (next: Promise<boolean>) => timeBudget?.waitForNext(next) ?? next;
  try {
    while (await wait(reads?.run(read) ?? read())) {
      yield takeReply(cursor as ReplyCursor) ?? encoded(cursor.readBufferedDocuments());
      // The driver closes a cursor with its last batch. Another `hasNext()` could wait for a free connection, although
      // no batch follows.
      if (cursor.closed) return;
    }
  } finally {
    if (!cursor.closed) cursor.close().catch(() => {});
  }
}

/**
 * The number of entities that are made from stored values in one turn of the event loop, so that other requests run
 * between the turns of a long list.
 */
export const MADE_AT_ONCE = 32;

/** The number of entities of a list whose references are read by one query, instead of one query for each entity. */
export const POPULATED_AT_ONCE = 128;

/**
 * Reads a Mongoose cursor, and yields its entities in lists of up to 32. Other requests get a turn of the event loop
 * between two lists, unless a short page is read.
 */
export async function* readDocuments(
  cursor: Cursor<object | null, unknown>,
  { timeBudget, model, page }: {
    readonly timeBudget: TimeBudget;
    readonly model: { readonly db: Connection };
    /** The page to read. A page is short, so its read does not wait for the reads of long lists. */
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

/** The limit on simultaneous reads of long lists, which leaves connections to short requests. */
const LIST_READS = new StatementTurns();

/**
 * The member of a cursor of the MongoDB driver that holds the last reply of the database, which the types of the driver
 * do not declare. After its bytes are taken, `documents` is set to `null`, so that the cursor asks for the next batch.
 */
interface ReplyCursor {
  readonly documents?: {
    readonly iterated?: unknown;
    readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
    clear?(): void;
  } | null;
}

/**
 * Returns the bytes of the last reply, and removes the reply from the cursor. Otherwise the cursor would keep the reply
 * in memory while a slow client reads. Returns `undefined` if the reply has an unknown form, so that the caller encodes
 * the decoded documents instead.
 */
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

/**
 * Encodes documents that the driver has decoded, because the bytes of the reply are not available in cursors of an
 * unknown form. Throws if the encoded bytes would differ from the stored bytes.
 */
function encoded(documents: readonly object[]): Batch {
  const array = encodeBson({ ...documents });
  if (array !== undefined) return { array, start: 0 };
  throw new TypeError("Cannot read a stored value that the driver has decoded with a loss");
}

/**
 * Returns the bytes of a document that the driver has decoded. Returns `undefined` if these bytes would differ from the
 * stored bytes, so that no answer shows a changed value.
 */
export function encodeBson(values: object): Buffer | undefined {
  if (!isLossless(values)) return undefined;
  const bytes = mongoose.mongo.BSON.serialize(values, { ignoreUndefined: false });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Whether a decoded value can be encoded again without loss. The driver has decoded a date outside JavaScript's range
 * as an invalid date, and JavaScript's regular expressions differ from MongoDB's.
 */
function isLossless(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (value instanceof RegExp) return false;
  if ("_bsontype" in value) return true;
  return Object.values(value).every(isLossless);
}

import type { Buffer } from "node:buffer";
import type { Connection, Cursor, mongo } from "mongoose";
import type { TimeBudget } from "../time_budget.ts";
import { ListTurn } from "./list_turn.ts";
import { awaitLoopTurn } from "./loop_turn.ts";
import { takeReply } from "./take_reply.ts";
import type { ReplyCursor } from "./take_reply.ts";

/** Documents: the bytes of a BSON array, as the database sent it, or decoded. */
export type Batch =
  | { readonly array: Buffer; readonly start: number }
  | { readonly values: readonly object[] };

export type OpenCursor = mongo.FindCursor | mongo.AggregationCursor;

export type ReadMode = "reply" | "decoded";

export interface ReadBatchesOptions {
  readonly mode: ReadMode;
  /** Without it, the caller bounds the waits. */
  readonly timeBudget?: TimeBudget | undefined;
  /** The turns of a list that may be long. Who has taken a batch passes. */
  readonly turn?: ListTurn | undefined;
}

/**
 * Reads a cursor batch by batch: the bytes of the reply where the driver keeps them as expected, else decoded documents.
 * The cursor must not have the option `raw`: the driver would apply it to error replies too.
 */
export async function* readBatches(
  cursor: OpenCursor,
  { mode, timeBudget, turn }: ReadBatchesOptions,
): AsyncGenerator<Batch> {
  const read = () => cursor.hasNext();
  const wait = (next: Promise<boolean>) => timeBudget?.waitForNext(next) ?? next;
  try {
    for (
      let next = turn?.begin(read) ?? read();
      await wait(next);
      next = turn?.goOn(read) ?? read()
    ) {
      yield (mode === "reply" ? takeReply(cursor as ReplyCursor) : undefined) ??
        { values: cursor.readBufferedDocuments() };
    }
  } finally {
    turn?.pass();
    cursor.close().catch(() => {});
  }
}

export interface ReadListOptions {
  readonly timeBudget: TimeBudget;
  readonly model: { readonly db: Connection };
  /** A page is short: it takes no turns with lists. */
  readonly page?: unknown;
}

const DECODED_AT_ONCE = 100;

/** Reads a cursor as decoded documents, several at a time; the rest of a batch stays bytes until then. */
export function readValues(
  cursor: mongo.FindCursor,
  options: ReadListOptions,
): AsyncGenerator<readonly object[]> {
  const read = async () =>
    await cursor.hasNext() ? cursor.readBufferedDocuments(DECODED_AT_ONCE) : [];
  const isLast = (found: readonly object[]) => found.length === 0;
  return readAtOnce(read, { ...options, isLast, cursor });
}

/** Fewer: documents of Mongoose are large. */
const MADE_AT_ONCE = 32;

export function readDocuments(
  cursor: Cursor<object | null, unknown>,
  options: ReadListOptions,
): AsyncGenerator<readonly object[]> {
  const isLast = (found: readonly object[]) => found.length < MADE_AT_ONCE;
  return readAtOnce(() => nextOf(cursor, MADE_AT_ONCE), { ...options, isLast, cursor });
}

/** A batch of the database has about as many documents. */
const BATCH = 1024;

/** An entity with hooks is as much work as so many bytes without. */
const WEIGHT = 1024;

interface ReadAtOnceOptions extends ReadListOptions {
  readonly cursor: { close(): Promise<unknown> };
  readonly isLast: (found: readonly object[]) => boolean;
}

/** Reads some documents in each turn of the event loop. */
async function* readAtOnce(
  read: () => Promise<readonly object[]>,
  { timeBudget, model, page, cursor, isLast }: ReadAtOnceOptions,
): AsyncGenerator<readonly object[]> {
  const turn = page === undefined ? new ListTurn(model.db) : undefined;
  let count = 0;
  try {
    for (let next = turn?.begin(read) ?? read();;) {
      const found = await timeBudget.waitForNext(next);
      turn?.pass();
      if (found.length > 0) yield found;
      if (isLast(found)) return;
      await awaitLoopTurn(found.length * WEIGHT);
      count += found.length;
      const isDue = count >= BATCH;
      if (isDue) count = 0;
      next = isDue && turn?.goOn(read) || read();
    }
  } finally {
    turn?.pass();
    cursor.close().catch(() => {});
  }
}

async function nextOf(cursor: Cursor<object | null, unknown>, most: number): Promise<object[]> {
  const taken: object[] = [];
  while (taken.length < most) {
    const next = await cursor.next();
    if (next === null) break;
    taken.push(next);
  }
  return taken;
}

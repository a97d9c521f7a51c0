import type { Buffer } from "node:buffer";
import type { Connection, Cursor, mongo } from "mongoose";
import type { TimeBudget } from "../time_budget.ts";
import { ListReads } from "./list_reads.ts";
import { nextTurn } from "./next_turn.ts";
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
  /** The connection of a list that may be long. */
  readonly listOf?: Connection | undefined;
}

/**
 * Reads a cursor batch by batch: the bytes of the reply where the driver keeps them as expected, else decoded documents.
 * The cursor must not have the option `raw`: the driver would apply it to error replies too.
 */
export async function* readBatches(
  cursor: OpenCursor,
  { mode, timeBudget, listOf }: ReadBatchesOptions,
): AsyncGenerator<Batch> {
  const reads = listOf && ListReads.of(listOf);
  const read = () => cursor.hasNext();
  const wait = (next: Promise<boolean>) => timeBudget?.waitForNext(next) ?? next;
  try {
    while (await wait(reads?.run(read) ?? read())) {
      yield (mode === "reply" ? takeReply(cursor as ReplyCursor) : undefined) ??
        { values: cursor.readBufferedDocuments() };
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

export interface ReadListOptions {
  readonly timeBudget: TimeBudget;
  readonly model: { readonly db: Connection };
  /** A page is short: it does not wait for lists. */
  readonly page?: unknown;
}

/** Documents of Mongoose are large. */
const MADE_AT_ONCE = 32;

/** Reads a cursor of Mongoose, some documents in each turn of the event loop. */
export async function* readDocuments(
  cursor: Cursor<object | null, unknown>,
  { timeBudget, model, page }: ReadListOptions,
): AsyncGenerator<readonly object[]> {
  const reads = page === undefined ? ListReads.of(model.db) : undefined;
  const read = () => nextOf(cursor, MADE_AT_ONCE);
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

async function nextOf(cursor: Cursor<object | null, unknown>, most: number): Promise<object[]> {
  const taken: object[] = [];
  while (taken.length < most) {
    const next = await cursor.next();
    if (next === null) break;
    taken.push(next);
  }
  return taken;
}

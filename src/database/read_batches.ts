import { Buffer } from "node:buffer";
import type { Cursor, mongo } from "mongoose";
import type { TimeBudget } from "./time_budget.ts";

/** Documents: the bytes of a BSON array, as the database sent it, or decoded. */
export type Batch =
  | { readonly array: Buffer; readonly start: number }
  | { readonly values: readonly object[] };

export type OpenCursor = mongo.FindCursor | mongo.AggregationCursor;

export type ReadMode = "reply" | "decoded";

/** The driver's cursor, with the reply that is not in its types. */
interface ReplyCursor {
  readonly documents?: {
    readonly iterated?: unknown;
    readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
    clear?(): void;
  };
}

export interface ReadBatchesOptions {
  readonly mode: ReadMode;
  /** Without it, the caller bounds the waits. */
  readonly timeBudget?: TimeBudget | undefined;
}

/**
 * Reads a cursor batch by batch: the bytes of the reply where the driver keeps them as expected, else decoded documents.
 * The cursor must not have the option `raw`: the driver would apply it to error replies too.
 */
export async function* readBatches(
  cursor: OpenCursor,
  { mode, timeBudget }: ReadBatchesOptions,
): AsyncGenerator<Batch> {
  try {
    while (await (timeBudget?.waitForNext(cursor.hasNext()) ?? cursor.hasNext())) {
      yield (mode === "reply" ? takeReply(cursor as ReplyCursor) : undefined) ??
        { values: cursor.readBufferedDocuments() };
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

const DECODED_AT_ONCE = 100;

/** Reads a cursor as decoded documents, several at a time; the rest of a batch stays bytes until then. */
export async function* readValues(
  cursor: mongo.FindCursor,
  timeBudget: TimeBudget,
): AsyncGenerator<readonly object[]> {
  try {
    while (await timeBudget.waitForNext(cursor.hasNext())) {
      yield cursor.readBufferedDocuments(DECODED_AT_ONCE);
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

/** Fewer: documents of Mongoose are large. */
const MADE_AT_ONCE = 32;

export async function* readDocuments(
  cursor: Cursor<object | null, unknown>,
  timeBudget: TimeBudget,
): AsyncGenerator<readonly object[]> {
  try {
    for (;;) {
      const documents = await timeBudget.waitForNext(nextOf(cursor, MADE_AT_ONCE));
      if (documents.length > 0) yield documents;
      if (documents.length < MADE_AT_ONCE) return;
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

function takeReply({ documents }: ReplyCursor): Batch | undefined {
  const { bson, offset } = documents?.batch ?? {};
  const known = bson instanceof Uint8Array && typeof offset === "number" &&
    documents?.iterated === 0 && typeof documents.clear === "function";
  if (!known) return undefined;
  documents.clear?.();
  return { array: Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength), start: offset };
}

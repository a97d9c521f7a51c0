import { Buffer } from "node:buffer";
import type { Cursor, mongo } from "mongoose";
import type { Patience } from "./patience.ts";

/** A batch of documents: the bytes of a BSON array, as the database sent it, or decoded documents. */
export type Batch =
  | { readonly array: Buffer; readonly start: number }
  | { readonly values: readonly object[] };

/** How batches are read: at best from the reply itself, else by the driver's public way. */
export type ReadMode = "reply" | "plain";

/** The driver's cursor, with the reply that it keeps to itself. */
interface ReplyCursor {
  readonly documents?: {
    readonly iterated?: unknown;
    readonly batch?: { readonly bson?: unknown; readonly offset?: unknown };
    clear?(): void;
  };
}

/** Options of {@linkcode readBatches}. */
export interface ReadBatchesOptions {
  /** The best way to try. */
  readonly mode: ReadMode;
  /** Bounds the waits; without it, they are bounded by whoever asks. */
  readonly patience?: Patience | undefined;
}

/**
 * Reads a cursor batch by batch. The reply is read in place where the driver's structure is the known one, so that no
 * document is touched twice; otherwise the driver hands out decoded documents. A cursor needs no `raw` option for that,
 * and must have none: the driver would apply it to error replies too.
 */
export async function* readBatches(
  cursor: mongo.FindCursor,
  { mode, patience }: ReadBatchesOptions,
): AsyncGenerator<Batch> {
  try {
    while (await (patience?.waitForNext(cursor.hasNext()) ?? cursor.hasNext())) {
      yield (mode === "reply" ? takeReply(cursor as ReplyCursor) : undefined) ??
        { values: cursor.readBufferedDocuments() };
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

/** How many documents are decoded at a time. */
const AT_ONCE = 100;

/** Reads a cursor as decoded documents, several at a time; those that the database has sent beyond them stay bytes. */
export async function* readValues(
  cursor: mongo.FindCursor,
  patience: Patience,
): AsyncGenerator<readonly object[]> {
  try {
    while (await patience.waitForNext(cursor.hasNext())) {
      yield cursor.readBufferedDocuments(AT_ONCE);
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

/** How many documents of Mongoose are made at a time: they are large. */
const MADE_AT_ONCE = 32;

/** Reads a cursor of Mongoose, several documents at a time. */
export async function* readDocuments(
  cursor: Cursor<object | null, unknown>,
  patience: Patience,
): AsyncGenerator<readonly object[]> {
  try {
    for (;;) {
      const documents = await patience.waitForNext(nextOf(cursor, MADE_AT_ONCE));
      if (documents.length > 0) yield documents;
      if (documents.length < MADE_AT_ONCE) return;
    }
  } finally {
    cursor.close().catch(() => {});
  }
}

/** Takes the next documents of a cursor, fewer at its end. */
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

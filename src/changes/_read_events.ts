import type { Collection, mongo } from "mongoose";
import type { ChangeEvent } from "./change.ts";
import type { Position } from "./_lease.ts";

const WAIT_MS = 1000;

/**
 * The ways to read events, the best one first: in pieces that fit into messages, whole, and without the entity. Servers before
 * 6.0.9 do not know the first one, and fail where a whole event is too large.
 */
const PIPELINES = [
  [{ $changeStreamSplitLargeEvent: {} }],
  [],
  [{ $unset: ["fullDocument", "fullDocumentBeforeChange"] }],
];

/** Codes of the server for a position that it cannot go on from. */
const LOST = new Set([
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
]);

/** Codes of the server for a way that it does not know, and for an event that it cannot send. */
const UNREADABLE = new Set([
  10334, // BSONObjectTooLarge
  40324, // an unknown stage
]);

/** The server code of an error. */
function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}

/** Tells whether the changes behind a position can no longer be read. */
export function isHistoryLost(error: unknown): boolean {
  return LOST.has(Number(codeOf(error)));
}

/** An event, or nothing where there are no more at the moment, and the position behind it. */
export interface ReadEvent {
  readonly event?: ChangeEvent;
  readonly position: Position;
}

/** Reads the events of a collection from a position on, until the signal is aborted or the way to read changes. */
export async function* readEvents(
  collection: Collection,
  { position, signal }: { readonly position: Position; readonly signal: AbortSignal },
): AsyncGenerator<ReadEvent, void, undefined> {
  let last = position;
  for (const [index, pipeline] of PIPELINES.entries()) {
    const isLast = index + 1 === PIPELINES.length;
    try {
      for await (const each of read(collection.watch(pipeline, optionsFor(last)), signal)) {
        last = each.position;
        yield each;
        if (isLast && each.event !== undefined) return;
      }
      return;
    } catch (error) {
      if (isLast || !UNREADABLE.has(Number(codeOf(error)))) throw error;
    }
  }
}

function optionsFor(position: Position): mongo.ChangeStreamOptions {
  return {
    ..."token" in position
      ? { startAfter: position.token }
      : { startAtOperationTime: position.from },
    fullDocument: "whenAvailable",
    fullDocumentBeforeChange: "whenAvailable",
    maxAwaitTimeMS: WAIT_MS,
  };
}

type Fragment = ChangeEvent & {
  readonly splitEvent?: { readonly fragment: number; readonly of: number };
};

async function* read(
  stream: mongo.ChangeStream,
  signal: AbortSignal,
): AsyncGenerator<ReadEvent, void, undefined> {
  const close = () => void stream.close().catch(() => {});
  signal.addEventListener("abort", close);
  try {
    let whole: ChangeEvent | undefined;
    while (!signal.aborted) {
      const found = await stream.tryNext() as Fragment | null;
      if (found === null) {
        yield { position: { token: stream.resumeToken } };
        continue;
      }
      whole = { ...whole, ...found };
      const { fragment = 1, of = 1 } = found.splitEvent ?? {};
      if (fragment < of) continue;
      yield { event: whole, position: { token: found._id } };
      whole = undefined;
    }
  } finally {
    signal.removeEventListener("abort", close);
    await stream.close().catch(() => {});
  }
}

import mongoose from "mongoose";
import type { Collection, mongo } from "mongoose";
import { withTimeLimit } from "../database/time_limit.ts";
import { type ChangeEvent, withPathsOnly } from "./change.ts";
import type { Position } from "./_lease.ts";
import type { ReadTurns } from "./_read_turns.ts";
import { unlessAborted } from "./_waits.ts";

const WAIT_MS = 1000;

/** How long a stream may take to close: a database that hangs must not keep a follower from stopping. */
const CLOSE_MS = 1000;

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

export interface ReadOptions {
  readonly position: Position;
  readonly signal: AbortSignal;
  readonly turns: Pick<ReadTurns, "run">;
}

/** Reads the events of a collection from a position on, until the signal is aborted or the way to read changes. */
export async function* readEvents(
  collection: Collection,
  { position, signal, turns }: ReadOptions,
): AsyncGenerator<ReadEvent, void, undefined> {
  let last = position;
  for (const [index, pipeline] of PIPELINES.entries()) {
    const isLast = index + 1 === PIPELINES.length;
    try {
      const stream = collection.watch(pipeline, optionsFor(last));
      for await (const each of read(stream, { turns, signal })) {
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
      : { startAtOperationTime: after(position.from) },
    fullDocument: "whenAvailable",
    fullDocumentBeforeChange: "whenAvailable",
    maxAwaitTimeMS: WAIT_MS,
  };
}

/** Returns the time after a time of the database, which is that of its last change. */
function after(time: mongo.Timestamp): mongo.Timestamp {
  return mongoose.mongo.Timestamp.fromBits(time.getLowBits() + 1, time.getHighBits());
}

type Fragment = ChangeEvent & {
  readonly splitEvent?: { readonly fragment: number; readonly of: number };
};

async function* read(
  stream: mongo.ChangeStream,
  { turns, signal }: Omit<ReadOptions, "position">,
): AsyncGenerator<ReadEvent, void, undefined> {
  try {
    let whole: ChangeEvent | undefined;
    while (!signal.aborted) {
      const next = () => stream.tryNext();
      const reading = stream.bufferedCount() > 0 ? next() : turns.run(next);
      const found = await unlessAborted(signal, reading) as Fragment | null;
      if (found === null) {
        yield { position: { token: stream.resumeToken } };
        continue;
      }
      whole = { ...whole, ...found };
      const { fragment = 1, of = 1 } = found.splitEvent ?? {};
      if (fragment < of) continue;
      yield { event: withPathsOnly(whole), position: { token: found._id } };
      whole = undefined;
    }
  } finally {
    const limit = { ms: CLOSE_MS, message: "Cannot close a change stream" };
    await withTimeLimit(() => stream.close(), limit).catch(() => {});
  }
}

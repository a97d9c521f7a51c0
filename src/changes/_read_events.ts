import mongoose from "mongoose";
import type { Collection, mongo } from "mongoose";
import { withTimeLimit } from "../database/time_limit.ts";
import { WITHOUT_TOUCHES } from "../database/touch.ts";
import { type ChangeEvent, withPathsOnly } from "./change.ts";
import type { Position } from "./_lease.ts";
import type { ReadTurns } from "./_read_turns.ts";
import { unlessAborted } from "./_waits.ts";

const WAIT_MS = 1000;

/**
 * The time that a change stream may take to close. A database that does not answer must not keep a follower from
 * stopping.
 */
const CLOSE_MS = 1000;

/**
 * The pipelines of the change stream, the best one first. The first pipeline splits large events into fragments that
 * fit into messages, the second one reads whole events, and the last one reads events without the entity. Servers
 * before 6.0.9 refuse the first pipeline, and fail at a whole event that is too large. Events that change no value are
 * left out.
 */
const PIPELINES = [
  [WITHOUT_TOUCHES, { $changeStreamSplitLargeEvent: {} }],
  [WITHOUT_TOUCHES],
  [WITHOUT_TOUCHES, { $unset: ["fullDocument", "fullDocumentBeforeChange"] }],
];

/**
 * The error codes of MongoDB for a position from which the change stream cannot continue. The changes after this
 * position are lost.
 */
const LOST = new Set([
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
]);

/**
 * Server error codes for an unknown stage, and for an event that is too large. After such an error, the next pipeline
 * is tried.
 */
const UNREADABLE = new Set([
  10334, // BSONObjectTooLarge
  40324, // an unknown stage
]);

/**
 * Returns the code of an error of MongoDB, by which its meaning is decided. Returns `undefined` for an error without a
 * code, such as an error of the network.
 */
function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}

/** Whether an error means that the changes after a position can no longer be read, so that `onLost` must be called. */
export function isHistoryLost(error: unknown): boolean {
  return LOST.has(Number(codeOf(error)));
}

/**
 * An event of the change stream, with the position from which reading continues after the event. `event` is absent if
 * the stream has no more events at present.
 */
export interface ReadEvent {
  readonly event?: ChangeEvent;
  readonly position: Position;
}

export interface ReadOptions {
  readonly position: Position;
  readonly signal: AbortSignal;
  readonly turns: Pick<ReadTurns, "run">;
}

/**
 * Reads the events of a collection after a position until the signal is aborted. After an event that only the last
 * pipeline could read, the generator ends, so that the caller begins again with the first pipeline.
 */
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

/**
 * Returns the cluster time that follows `time`. A change stream from this time does not contain the operation at
 * `time`.
 */
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

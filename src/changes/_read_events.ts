import mongoose from "mongoose";
import type { Collection, mongo } from "mongoose";
import { withTimeLimit } from "../store/time_limit.ts";
import { WITHOUT_TOUCHES } from "../store/touch.ts";
import { type Change, type ChangeEvent, lacking, withPathsOnly } from "./change.ts";
import type { Position } from "./_lease.ts";
import type { ReadTurns } from "./_read_turns.ts";
import { unlessAborted } from "./_waits.ts";

const WAIT_MS = 1000;

/** A short time limit, because the database may not answer. */
const CLOSE_MS = 1000;

/** Splits an event of more than 16 MB, which MongoDB cannot send. Servers before 6.0.9 do not have the stage. */
const SPLIT = { $changeStreamSplitLargeEvent: {} };

const SET = "updateDescription.updatedFields";

/** Replaces the new values of an update, because a follower needs only their paths. */
const WITHOUT_SET_VALUES = {
  $set: {
    [SET]: {
      $arrayToObject: {
        $map: {
          input: { $objectToArray: { $ifNull: [`$${SET}`, {}] } },
          in: { k: "$$this.k", v: true },
        },
      },
    },
  },
};

const WITHOUT_IMAGES = { $unset: ["fullDocument", "fullDocumentBeforeChange"] };

/**
 * Ways to read an event. If it is too large for MongoDB, the next way removes more data. `batchSize: 1` keeps other
 * events out of the message.
 */
const WAYS: readonly Way[] = [
  {},
  { batchSize: 1 },
  { batchSize: 1, stages: [WITHOUT_SET_VALUES], missing: [] },
  { batchSize: 1, stages: [WITHOUT_SET_VALUES, WITHOUT_IMAGES], missing: ["images"] },
  {
    batchSize: 1,
    stages: [WITHOUT_IMAGES, { $unset: "updateDescription" }],
    missing: ["images", "paths"],
  },
];

interface Way {
  readonly batchSize?: number;
  readonly stages?: readonly mongo.Document[];
  /**
   * The data that the stages remove. If present, even empty, `readEvents()` ends after one event, so that its caller
   * reads the next events completely.
   */
  readonly missing?: Change["missing"];
}

/** Errors after which a stream cannot continue at its position. */
const LOST = new Set([
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
]);

const UNKNOWN_STAGE = 40324;

/** Errors at an event that is too large for a message. */
const LARGE_EVENT_CODES = new Set([
  10334, // BSONObjectTooLarge
  7182500, // The event has a part that is too large for a fragment
]);

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code;
}

/** Returns the reason why changes are lost, or `undefined` if the follower can try again. */
export function reasonOfLoss(error: unknown): "history" | "size" | undefined {
  const code = Number(codeOf(error));
  if (LARGE_EVENT_CODES.has(code)) return "size";
  return LOST.has(code) ? "history" : undefined;
}

/** `event` is absent if the stream has no more events at present. */
export interface ReadEvent {
  readonly event?: ChangeEvent;
  readonly position: Position;
}

export interface EventReadOptions {
  readonly position: Position;
  readonly signal: AbortSignal;
  readonly turns: Pick<ReadTurns, "run">;
}

export async function* readEvents(
  collection: Collection,
  { position, signal, turns }: EventReadOptions,
): AsyncGenerator<ReadEvent, void, undefined> {
  let last = position;
  let isSplit = true;
  for (let index = 0;;) {
    const { batchSize, stages = [], missing } = WAYS[index] ?? {};
    const pipeline = [WITHOUT_TOUCHES, ...stages, ...isSplit ? [SPLIT] : []];
    try {
      const stream = collection.watch(pipeline, {
        ...optionsFor(last),
        ...batchSize !== undefined && { batchSize },
      });
      for await (const { event, position } of read(stream, { turns, signal })) {
        last = position;
        yield event === undefined ? { position } : { event: lacking(event, missing), position };
        if (missing !== undefined || event === undefined && index > 0) return;
      }
      return;
    } catch (error) {
      const code = Number(codeOf(error));
      if (code === UNKNOWN_STAGE && isSplit) isSplit = false;
      else if (LARGE_EVENT_CODES.has(code) && index + 1 < WAYS.length) index++;
      else throw error;
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

/** MongoDB would include the operation at `time`, which came before the start of the follower. */
function after(time: mongo.Timestamp): mongo.Timestamp {
  return mongoose.mongo.Timestamp.fromBits(time.getLowBits() + 1, time.getHighBits());
}

type Fragment = ChangeEvent & {
  readonly splitEvent?: { readonly fragment: number; readonly of: number };
};

async function* read(
  stream: mongo.ChangeStream,
  { turns, signal }: Omit<EventReadOptions, "position">,
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

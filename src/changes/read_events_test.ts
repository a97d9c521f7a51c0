import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Collection } from "mongoose";
import { readEvents, reasonOfLoss } from "./_read_events.ts";

/** A collection whose change stream has these events. */
function collectionWith(events: readonly object[]): Collection {
  const left = [...events];
  const tryNext = () => Promise.resolve(left.shift() ?? null);
  const watch = () => ({
    tryNext,
    bufferedCount: () => 0,
    resumeToken: { _data: "end" },
    close: () => Promise.resolve(),
  });
  return { watch } as unknown as Collection;
}

const position = { from: mongoose.mongo.Timestamp.fromBits(1, 1) };

Deno.test("readEvents() joins the pieces of an event that is too large for a message", async () => {
  const collection = collectionWith([
    { _id: { _data: "1" }, operationType: "update", splitEvent: { fragment: 1, of: 3 } },
    { _id: { _data: "2" }, fullDocument: { a: 1 }, splitEvent: { fragment: 2, of: 3 } },
    { _id: { _data: "3" }, wallTime: new Date(0), splitEvent: { fragment: 3, of: 3 } },
    { _id: { _data: "4" }, operationType: "delete" },
  ]);
  const seen: unknown[] = [];
  for await (
    const { event, position: behind } of readEvents(collection, {
      position,
      signal: new AbortController().signal,
      turns: { run: (work) => work() },
    })
  ) {
    seen.push([event?.operationType, event?.fullDocument, event?.wallTime?.getTime(), behind]);
    if (event === undefined) break;
  }
  assertEquals(seen, [
    ["update", { a: 1 }, 0, { token: { _data: "3" } }],
    ["delete", undefined, undefined, { token: { _data: "4" } }],
    [undefined, undefined, undefined, { token: { _data: "end" } }],
  ]);
});

const TOO_LARGE = new mongoose.mongo.MongoServerError({ message: "x", code: 10334 });
/** The error of servers that split events, for an event with a part that fits into no fragment. */
const TOO_LARGE_PART = new mongoose.mongo.MongoServerError({ message: "x", code: 7182500 });
const UNKNOWN_STAGE = new mongoose.mongo.MongoServerError({ message: "x", code: 40324 });

interface Sent {
  readonly id: string;
  /** The parts without which the event is small enough. */
  readonly large?: string;
}

/** A collection of a server that fails at large events, and at all events of a batch with one. */
function failingAt(events: readonly Sent[], { isOld = false } = {}) {
  const opened: string[] = [];
  const watch = (
    stages: readonly Record<string, unknown>[],
    { batchSize = 100, startAfter }: { batchSize?: number; startAfter?: { _data: string } },
  ) => {
    const [, ...more] = stages.map((stage) => Object.keys(stage)[0]);
    const leftOut = stages.slice(1).flatMap(({ $set = {}, $unset = [] }) => [
      ...Object.keys($set as object),
      ...[$unset].flat(),
    ]);
    opened.push(`${batchSize} ${leftOut.length}`);
    let at = events.findIndex(({ id }) => id === startAfter?._data) + 1;
    let batch: Sent[] = [];
    const tryNext = () => {
      if (isOld && more.includes("$changeStreamSplitLargeEvent")) {
        return Promise.reject(UNKNOWN_STAGE);
      }
      if (batch.length === 0) {
        batch = events.slice(at, at + batchSize);
        at += batch.length;
        const isFailing = ({ large = "none" }: Sent) =>
          large !== "none" && !leftOut.includes(large);
        if (batch.some(isFailing)) return Promise.reject(isOld ? TOO_LARGE : TOO_LARGE_PART);
      }
      const next = batch.shift();
      return Promise.resolve(
        next === undefined ? null : { _id: { _data: next.id }, operationType: "update" },
      );
    };
    const close = () => Promise.resolve();
    return { tryNext, bufferedCount: () => batch.length, resumeToken: startAfter, close };
  };
  return { opened, collection: { watch } as unknown as Collection };
}

/** Reads all events, beginning again as a follower does. */
async function readAll(collection: Collection): Promise<string[]> {
  const seen: string[] = [];
  let place: Parameters<typeof readEvents>[1]["position"] = position;
  for (let isOver = false; !isOver;) {
    const { signal } = new AbortController();
    const turns = { run: <T>(work: () => T) => work() };
    for await (const each of readEvents(collection, { position: place, signal, turns } as never)) {
      place = each.position;
      isOver = each.event === undefined;
      if (isOver) break;
      seen.push([each.event?._id._data, ...each.event?.missing ?? []].join(" "));
    }
  }
  return seen;
}

for (const isOld of [false, true]) {
  Deno.test(`readEvents() leaves out the parts of large events only, ${isOld ? "6.0.5" : "7.0"}`, async () => {
    const { collection, opened } = failingAt([
      { id: "1" },
      { id: "2" },
      { id: "3", large: "fullDocument" },
      { id: "4" },
      { id: "5", large: "updateDescription" },
      { id: "6", large: "updateDescription.updatedFields" },
    ], { isOld });
    const expected = ["1", "2", "3 images", "4", "5 images paths", "6"];
    assertEquals(await readAll(collection), expected);
    assertEquals([...new Set(opened)], ["100 0", "1 0", "1 1", "1 3"]);
  });
}

Deno.test("readEvents() fails at an event that is too large without any of its parts", async () => {
  const { collection } = failingAt([{ id: "1", large: "_id" }]);
  const failure = await readAll(collection).then(() => {}, (error) => error);
  assertEquals(failure, TOO_LARGE_PART);
  assertEquals([TOO_LARGE, TOO_LARGE_PART].map(reasonOfLoss), ["size", "size"]);
});

import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Collection } from "mongoose";
import { readEvents } from "./_read_events.ts";

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

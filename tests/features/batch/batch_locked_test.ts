import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../../mod.ts";
import { connect } from "../../../src/client/mod.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { rows, sendBatch } from "./shop.ts";
import { Kept, Owned, Plain, writesOf } from "./writes.ts";

/** Locks all entities and the code `new`, as the transaction of a process that was killed does. */
async function lock(name: string) {
  const session = await mongoose.connection.startSession();
  session.startTransaction();
  const collection = mongoose.connection.collection(name);
  await collection.updateMany({}, { $inc: { __v: 1 } }, { session });
  await collection.insertOne({ code: "new" }, { session });
  return {
    async [Symbol.asyncDispose]() {
      await session.abortTransaction();
      await session.endSession();
    },
  };
}

for (const route of ["/plain", "/direct", "/kept"] as const) {
  test(`a batch whose writes meet a lock in ${route} is a 503 that says so`, async () => {
    await using app = await mountOnReplicaSet([Plain, Kept, Owned], {
      batch: { path: "/batch", max: 20 },
      limits: { timeMS: 2000 },
      onError: () => {},
    });
    const writes = await writesOf(app, route);
    await app.created("/owned", {});
    const owned = await getModel(Owned).countDocuments();
    await using _lock = await lock(route === "/kept" ? "kepts" : "plains");
    const told = await Promise.all(writes.map(async (write) => {
      const { status, body, headers } = await sendBatch(app, rows(["POST", "/owned", {}], write));
      const { code, failed, reason } = body as typeof body & { readonly reason?: string };
      const hasPause = Number(headers.get("retry-after")) > 0;
      return `${write}: ${[status, code, failed, reason, hasPause]}`;
    }));
    assertEquals(told, writes.map((write) => `${write}: 503,UNAVAILABLE,r1,locked,true`));
    assertEquals(await getModel(Owned).countDocuments(), owned);
  });
}

test("the client repeats a batch that has met a lock", async () => {
  await using app = await mountOnReplicaSet([Plain, Kept, Owned], {
    batch: { path: "/batch", max: 20 },
    limits: { timeMS: 500 },
    onError: () => {},
  });
  const { _id } = await app.created("/plain", { text: "a" });
  const locked = await lock("plains");
  const statuses: number[] = [];
  const api = connect(app.url, {
    async fetch(url, init) {
      const answer = await globalThis.fetch(url, init);
      const { status } = answer;
      statuses.push(status);
      if (status === 503) await locked[Symbol.asyncDispose]();
      // Without its header `Retry-After`, the request is repeated soon.
      return new Response(await answer.text(), { status });
    },
  });
  const change = () =>
    api.batch((batch) => [batch.resource<Plain>("/plain").update(_id, { text: "b" })]);
  assertEquals((await change())[0].text, "b");
  assertEquals(statuses, [503, 200]);
});

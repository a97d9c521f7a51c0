import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { all, create, Framework, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { longTest, test } from "../../harness/testing.ts";
import { type Live, mountLive, openLive } from "./live.ts";
import { openGet, readSome, readToEnd } from "../../support/sockets.ts";
import { type ErrorBody, mount } from "../../support/support.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { until } from "../../support/until.ts";

@rest({ route: "/lines", methods: [all<Line>({ live: true }), create()] })
@rest({ route: "/few", methods: [all<Line>({ live: { max: 2 } })] })
@rest({ route: "/hooked", methods: [all<Line>({ live: true, preSend: (_req, line) => line })] })
@rest({ route: "/last", methods: [all<Line>({ live: true, page: { max: 1 }, sort: ["text"] })] })
class Line extends FrameworkModel {
  @prop()
  text?: string;
}

/** Reads the refusal of a live list. */
async function refusal(url: string) {
  const answer = await fetch(url, { headers: { accept: "text/event-stream" } });
  // A stream would not end
  assert(!answer.ok, `${url} is open`);
  const { message } = await answer.json() as ErrorBody;
  return [answer.status, answer.headers.get("retry-after"), message];
}

test("a live list without a replica set is a 503, with a hint in the log", async () => {
  await using mongo = await startMongo({ args: ["--quiet"] });
  await using app = await mount([Line], { mongo: mongo.uri });
  using warn = stub(console, "warn");
  using _error = stub(console, "error");
  assertEquals(await refusal(`${app.url}/lines`), [503, "5", "The database is not available"]);
  assertMatch(String(warn.calls[0]?.args[0]), /replica set/);
  assertEquals((await app.get("/lines")).status, 200);
});

test("more subscribers than the limit are a 503 until others leave", async () => {
  await using app = await mountLive([Line], {
    limits: { live: { maxSubscribers: 2 } },
  });
  using _error = stub(console, "error");
  const first = await openLive(`${app.url}/lines`);
  await using second = await openLive(`${app.url}/lines`);
  await Promise.all([first.ready(), second.ready()]);
  assertEquals(await refusal(`${app.url}/lines`), [503, "5", "Too many live lists are open"]);
  await first[Symbol.asyncDispose]();
  const again = async (): Promise<boolean> => {
    await using third: Live = await openLive(`${app.url}/lines`);
    if (third.answer.status === 200) return true;
    await third.answer.body?.cancel();
    return false;
  };
  await until(again);
});

test("a list that is too long is a 409, and one that grows too long ends", async () => {
  await using app = await mountLive([Line]);
  await using live = await openLive(`${app.url}/few`);
  await live.ready();
  for (const text of ["a", "b", "c"]) await app.created("/lines", { text });
  await until(() => live.hasEnded);
  assertEquals(await refusal(`${app.url}/few`), [409, null, "More than 2 entities are selected"]);
});

test("feeds leave half of the connections to requests", async () => {
  await using app = await mountLive([Line, buildOther()], { connection: "maxPoolSize=2" });
  using warn = stub(console, "warn");
  using _error = stub(console, "error");
  await using live = await openLive(`${app.url}/lines`);
  await live.ready();
  assertEquals(await refusal(`${app.url}/others`), [503, "5", "Too many collections are live"]);
  assertMatch(String(warn.calls[0]?.args[0]), /maxPoolSize of 2/);
  assertEquals((await app.get("/others")).status, 200);
});

function buildOther() {
  @rest({ route: "/others", methods: [all<Other>({ live: true })] })
  class Other extends FrameworkModel {}
  return Other;
}

test("a stream ends at its age", async () => {
  await using app = await mountLive([Line], { limits: { live: { maxAgeMS: 700 } } });
  await using live = await openLive(`${app.url}/lines`);
  await live.ready();
  await until(() => live.hasEnded);
  assertMatch(live.wire, /^event: ready\nid: \S+\ndata: \{\}\n\n$/);
});

longTest("an idle stream has heartbeats", async () => {
  await using app = await mountLive([Line]);
  await using live = await openLive(`${app.url}/lines`);
  await live.ready();
  await until(() => live.wire.endsWith("\n\n:\n\n"));
});

test("Framework.close() ends streams in order, and refuses others", async () => {
  await using app = await mountLive([Line]);
  const host = express();
  host.use(Framework.initialize({ models: [Line] }));
  const server = createServer(host).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lines`;
  const streams = await Promise.all(Array.from({ length: 20 }, () => openLive(url)));
  await Promise.all(streams.map((each) => each.ready()));
  using idle = await openGet(url, { headers: "Connection: keep-alive\r\n" });
  await readSome(idle);
  const begun = performance.now();
  const closing = Framework.close(server);
  const accept = "GET /lines HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n";
  await idle.write(new TextEncoder().encode(accept));
  assertMatch(await readToEnd(idle), /^HTTP\/1.1 503/);
  await closing;
  assert(performance.now() - begun < 20_000);
  assertEquals(streams.map(({ hasEnded }) => hasEnded), streams.map(() => true));
  for (const each of streams) await each[Symbol.asyncDispose]();
  assertEquals((await app.get("/lines")).status, 200);
});

for (const path of ["/lines", "/hooked"]) {
  test(`a reader of ${path} who is too slow gets the list again`, async () => {
    await using app = await mountLive([Line], {
      limits: { live: { maxUnsentBytes: 100_000 } },
    });
    const { collection } = getModel(Line);
    const { insertedId } = await collection.insertOne({ text: "" });
    using socket = await openGet(app.url + path, { headers: "Accept: text/event-stream\r\n" });
    await readSome(socket);
    // More than the buffers of a connection hold
    for (let round = 0; round < 60; round++) {
      await collection.updateOne({ _id: insertedId }, {
        $set: { text: `${round}${"x".repeat(500_000)}` },
      });
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await collection.updateOne({ _id: insertedId }, { $set: { text: "last" } });
    let end = "";
    let size = 0;
    let isAgain = false;
    while (!/"last"\}/.test(end)) {
      const text = await readSome(socket);
      size += text.length;
      isAgain ||= /event: resync\nid: ?\n/.test(end + text);
      end = (end + text).slice(-10_000);
    }
    assert(isAgain);
    assert(size < 15_000_000, `${size} bytes`);
  });
}

test("streams that vanish leave no change stream behind", async () => {
  await using app = await mountLive([Line]);
  const streams = await Promise.all(
    ["/lines", "/hooked", "/last", "/few"].map((path) => openLive(app.url + path)),
  );
  await Promise.all(streams.map((each) => each.ready()));
  assertEquals(await changeStreams(app.database.name), 1);
  for (const each of streams) await each[Symbol.asyncDispose]();
  await until(async () => await changeStreams(app.database.name) === 0);
});

/** How many change streams the database of the tests has. */
async function changeStreams(database: string): Promise<number> {
  const found = await mongoose.connection.getClient().db("admin").aggregate([
    { $currentOp: { idleCursors: true, allUsers: true } },
    {
      $match: {
        "cursor.originatingCommand.pipeline.0.$changeStream": { $exists: true },
        ns: new RegExp(`^${database}\\.`),
      },
    },
  ]).toArray();
  return new Set(found.map(({ cursor }) => String(cursor.cursorId))).size;
}

test("a time that no timer supports is an error at start-up, because streams would end at once", () => {
  for (const name of ["maxAgeMS", "renewMS"]) {
    assertThrows(
      () => Framework.initialize({ models: [Line], limits: { live: { [name]: 2 ** 31 } } }),
      RangeError,
      `Cannot limit live lists: "${name}" is 2147483648, which is more than 2147483647`,
    );
  }
});

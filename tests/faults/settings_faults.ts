import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import mongoose from "mongoose";
import type { ConnectOptions } from "mongoose";
import { create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { readSome } from "../support/sockets.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";
import { isLong, report } from "../harness/report.ts";
import { openApp } from "./support/open_app.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";

/** What settings are good for: figures for people, which the short form does without. */
const measure = isLong ? test : Deno.test.ignore;

const CLIENTS = 64;

/** Sends one create per client while the database takes its time for each; gives the statuses, and the slowest answer in seconds. */
async function createAll(options: ConnectOptions, blockTimeMS: number) {
  const args = ["--setParameter", "enableTestCommands=1"];
  await using mongo = await startMongo({ replicaSet: 1, args });
  const open = { dbName: "settings", appName: "settings", ...options };
  const connection = await mongoose.createConnection(mongo.uri, open).asPromise();
  @rest({ route: "/notes", methods: [create()], getConnection: () => connection })
  class Note extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mount([Note], { onError: () => {} });
  await app.created("/notes", { text: "a" });
  const data = {
    failCommands: ["insert"],
    appName: "settings",
    blockConnection: true,
    blockTimeMS,
  };
  const host = await mongoose.createConnection(mongo.uri).asPromise();
  const fail = { configureFailPoint: "failCommand", mode: "alwaysOn", data };
  await host.getClient().db("admin").command(fail);
  // A statement that takes half a second may wait for a lock, and is sent again, but not for ever.
  await app.post("/notes", { text: "a" });
  const begun = performance.now();
  const replies = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const { status } = await app.post("/notes", { text: "a" });
      return { status, took: (performance.now() - begun) / 1000 };
    }),
  );
  await Promise.all([host, connection].map((each) => each.close(true)));
  const took = replies.map(({ took }) => took).sort((a, b) => a - b);
  const statuses = [...new Set(replies.map(({ status }) => status))].sort();
  return { statuses, median: took[took.length >> 1] ?? 0, slowest: took.at(-1) ?? 0 };
}

measure("maxPoolSize bounds what a slow database does at a time", async () => {
  for (const maxPoolSize of [5, 20, 100]) {
    const { statuses, slowest } = await createAll({ maxPoolSize }, 500);
    assertEquals(statuses, [201]);
    await report(
      `maxPoolSize ${maxPoolSize}, ${CLIENTS} clients, 0.5 s per write: ${slowest.toFixed(1)} s`,
    );
  }
});

measure("waitQueueTimeoutMS answers early who would wait for a connection in vain", async () => {
  for (const waitQueueTimeoutMS of [0, 1000]) {
    const { statuses, median } = await createAll({ maxPoolSize: 5, waitQueueTimeoutMS }, 15_000);
    assertEquals(statuses, [503]);
    await report(
      `waitQueueTimeoutMS ${waitQueueTimeoutMS}, ${CLIENTS} clients, the database hangs: ` +
        `half of the 503s within ${median.toFixed(1)} s`,
    );
  }
});

test("a slow database gets each write once, after it was taken for a lock", async () => {
  const args = ["--setParameter", "enableTestCommands=1"];
  for (const replicaSet of [0, 1]) {
    await using mongo = await startMongo({ replicaSet, args });
    const open = { dbName: "slow", monitorCommands: true };
    const connection = await mongoose.createConnection(mongo.uri, open).asPromise();
    @rest({ route: "/notes", methods: [create(), update()], getConnection: () => connection })
    class Note extends FrameworkModel {
      @prop()
      text?: string;
    }
    await using app = await mount([Note]);
    const { _id } = await app.created("/notes", { text: "a" });
    const data = { failCommands: ["findAndModify"], blockConnection: true, blockTimeMS: 700 };
    const fail = { configureFailPoint: "failCommand", mode: "alwaysOn", data };
    await connection.getClient().db("admin").command(fail);
    let sent = 0;
    connection.getClient().on("commandStarted", ({ commandName }) => {
      if (commandName === "findAndModify") sent++;
    });
    for (const text of ["b", "c", "d"]) await app.updated(`/notes/${_id}`, { text });
    assertEquals([replicaSet, sent], [replicaSet, 4]);
    await connection.close(true);
  }
});

/** Serves two models, one of them with updates that take 2 s, over one pool or two. */
async function openSlow(maxPoolSize: number, ownPoolSize?: number) {
  const mongo = await startMongo({ args: ["--setParameter", "enableTestCommands=1"] });
  const open = (maxPoolSize: number) =>
    mongoose.createConnection(mongo.uri, { dbName: "slow", maxPoolSize }).asPromise();
  const connection = await open(maxPoolSize);
  const own = ownPoolSize === undefined ? connection : await open(ownPoolSize);
  @rest({ route: "/slow", methods: [create(), update()], getConnection: () => own })
  class Slow extends FrameworkModel {
    @prop()
    text?: string;
  }
  @rest({ route: "/others", methods: [create(), one()], getConnection: () => connection })
  class Other extends FrameworkModel {}
  const data = { failCommands: ["findAndModify"], blockConnection: true, blockTimeMS: 2000 };
  const fail = { configureFailPoint: "failCommand", mode: "alwaysOn", data };
  await connection.getClient().db("admin").command(fail);
  const app = await mount([Slow, Other], { onError: () => {} });
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await Promise.all([connection, own].map((each) => each.close(true)));
      await mongo.stop();
    },
  };
}

/** Reads single entities beside 200 clients that send slow updates; gives the answers. */
async function readBesideSlow(...pools: [number, number?]) {
  await using app = await openSlow(...pools);
  const { _id } = await app.created("/others", {});
  const slow = await Promise.all(Array.from({ length: 200 }, () => app.created("/slow", {})));
  const end = performance.now() + 20_000;
  const answers: { status: number; took: number }[] = [];
  const read = async () => {
    while (performance.now() < end) {
      const begun = performance.now();
      const { status } = await app.get(`/others/${_id}`);
      answers.push({ status, took: performance.now() - begun });
    }
  };
  const write = async ({ _id }: { _id: string }) => {
    while (performance.now() < end) {
      await app.patch(`/slow/${_id}`, { text: crypto.randomUUID() });
    }
  };
  await Promise.all([...slow.map(write), read(), read(), read(), read()]);
  return answers;
}

measure("a connection of its own keeps a slow route from the others", async () => {
  for (const pools of [[100], [20], [20, 20]] as [number, number?][]) {
    const answers = await readBesideSlow(...pools);
    const took = answers.map(({ took }) => took).sort((a, b) => a - b);
    const failed = answers.filter(({ status }) => status !== 200).length;
    await report(
      `200 clients update for 2 s each, pools of ${pools}: others ` +
        `p50 ${
          took[took.length >> 1]?.toFixed(0)
        } ms, ${failed} of ${answers.length} not answered 200`,
    );
  }
});

/** The settings of the documentation. */
const TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5000,
};

/** What clients leave a connection with, and what ends it: an answer, or nothing where it is only idle. */
const LEFT: Readonly<Record<string, string>> = {
  "GET / HTT": "HTTP/1.1 408",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1": "HTTP/1.1 408",
  "GET / HTTP/1.1\r\nHost: a\r\n\r\n": "",
};

measure("a server ends what is sent by half, and idle connections", async () => {
  const answer: RequestListener = (req, res) => void req.resume().on("end", () => res.end());
  const server = createServer(TIMES, answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const told = await Promise.all(
    Object.entries(LEFT).map(async ([left, end]) => {
      using socket = await Deno.connect({ hostname: "127.0.0.1", port });
      await socket.write(new TextEncoder().encode(left));
      if (end === "") await readSome(socket);
      const begun = performance.now();
      assertEquals((await readSome(socket)).slice(0, 12), end);
      const took = (performance.now() - begun) / 1000;
      return `${left.split("\r\n", 1)}: ${end || "closed"} after ${took.toFixed(1)} s`;
    }),
  );
  for (const line of told) await report(line);
  server.close();
});

/** The most memory that a process has had, in MB. */
async function peakOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1000;
}

measure("a list with hooks costs its own size many times over, a page does not", async () => {
  const database = `faults_settings_${crypto.randomUUID().slice(0, 8)}`;
  const host = await mongoose.createConnection(BASE, { dbName: database }).asPromise();
  const rows = Array.from({ length: 50_000 }, () => ({ text: "x".repeat(250) }));
  await host.collection("shown").insertMany(rows);
  for (const name of ["direct", "pages", "lean", "hooks"]) {
    await using app = await openApp(BASE, { database });
    await until(async () => (await app.get(`/shown/${name}?q={"key":"none"}`)).status === 200);
    const { pid } = await app.state();
    const before = await peakOf(pid);
    let size = 0;
    const { body } = await fetch(`${app.url}/shown/${name}`);
    for await (const piece of body ?? []) size += piece.length;
    const more = (await peakOf(pid)) - before;
    await report(`List, ${name}: ${(size / 1e6).toFixed(1)} MB of JSON cost ${more.toFixed(0)} MB`);
  }
  await host.dropDatabase();
  await host.close();
});

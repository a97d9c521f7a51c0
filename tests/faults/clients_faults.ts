import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { test } from "../harness/testing.ts";
import { openGet, sendGet } from "../sockets.ts";
import { until } from "../until.ts";
import { isLong, report } from "../harness/report.ts";
import { type AppState, openApp } from "./support/open_app.ts";
import { countHeld } from "./support/stored.ts";

const BASE = Deno.env.get("MONGODB_URI") ?? "";
const DATABASE = `faults_clients_${crypto.randomUUID().slice(0, 8)}`;

/** How many entities the list has, and how long their texts are: more than the buffers of a connection hold. */
const [ENTITIES, LENGTH] = isLong ? [100_000, 200] : [10_000, 2000];

/** The short form has a tenth of the clients. */
const many = (count: number): number => isLong ? count : count / 10;

/** A client has this time for 64 KB of an answer. */
const SEND_MS = isLong ? 20_000 : 3000;

/** Idle connections are the host's to end: the harm undone, they are gone. */
const PATIENCE_S = 60;

type App = Awaited<ReturnType<typeof openApp>>;

const HEAD =
  "POST /visits HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 30\r\n";

/** The phases of a request, as what was sent of it; the last one is whole. */
const PHASES = [
  "",
  "GET /vis",
  `${HEAD}\r\n`,
  `${HEAD}\r\n{"text":`,
  "GET /visits HTTP/1.1\r\nHost: a\r\n\r\n",
];

async function begin(url: string, text: string): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(text));
  return socket;
}

/** Opens connections, some at a time: more would not wait in the queue of the listener. */
async function open(count: number, make: (index: number) => Promise<Deno.TcpConn>) {
  const sockets: Deno.TcpConn[] = [];
  while (sockets.length < count) {
    const next = Math.min(50, count - sockets.length);
    sockets.push(
      ...await Promise.all(Array.from({ length: next }, (_, at) => make(sockets.length + at))),
    );
  }
  return sockets;
}

/** What clients do to an application: gives the connections that they hold. */
const HARMS: Readonly<Record<string, (app: App) => Promise<Deno.TcpConn[]>>> = {
  [`${many(500)} clients that read nothing of a list of ${ENTITIES}`]: (app) =>
    open(many(500), () => openGet(`${app.url}/visits`)),
  [`${many(200)} pipelined lists of ${ENTITIES}`]: async (app) => {
    const socket = await openGet(`${app.url}/visits`);
    for (let left = many(200) - 1; left > 0; left--) await sendGet(socket, "/visits");
    return [socket];
  },
  [`${many(2000)} idle connections`]: (app) => open(many(2000), () => begin(app.url, "")),
  [`${many(500)} half-sent heads and bodies`]: (app) =>
    open(many(500), (index) => begin(app.url, PHASES[index % 3 + 1] ?? "")),
  [`${many(1000)} clients that vanish in every phase`]: async (app) => {
    const phase = async (index: number) =>
      await begin(app.url, PHASES[index % PHASES.length] ?? "");
    for (const socket of await open(many(1000), phase)) socket.close();
    return [];
  },
};

/** Sends requests of other clients; gives their 99th of 100, in milliseconds. */
async function measure(app: App): Promise<number> {
  const took: number[] = [];
  const ask = async () => {
    const begun = performance.now();
    const { status } = await app.post("/visits", { key: crypto.randomUUID(), text: "a" });
    assertEquals(status, 201);
    took.push(performance.now() - begun);
  };
  await Promise.all([1, 2, 3, 4].map(async () => {
    for (let left = isLong ? 250 : 60; left > 0; left--) await ask();
  }));
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0;
}

/** Asserts that an application holds nothing more than before. */
async function assertBack(app: App, host: Connection, { before }: { before: AppState }) {
  await until(async () => (await countHeld(host, DATABASE)).length === 0, { seconds: PATIENCE_S });
  const isBack = async () => (await app.state()).sockets <= before.sockets + 8;
  await until(isBack, { seconds: PATIENCE_S });
  const after = await app.state();
  assertEquals([after.pid, after.rejections, after.failures], [before.pid, [], []]);
  const growth = Math.round((after.heapUsed - before.heapUsed) / 1e6);
  assert(growth < 20, `${growth} MB more`);
  return after;
}

test("clients that harm an application leave nothing behind, and others are answered", async (t) => {
  const host = await mongoose.createConnection(BASE, { dbName: DATABASE }).asPromise();
  const rows = Array.from({ length: ENTITIES }, () => ({ key: "k", text: "x".repeat(LENGTH) }));
  await host.collection("visits").insertMany(rows);
  await using app = await openApp(BASE, { database: DATABASE, sendMs: SEND_MS });
  await until(async () => (await app.post("/visits", { key: "k", text: "a" })).status === 201);
  await measure(app);
  for (const [name, harm] of Object.entries(HARMS)) {
    await t.step(name, async () => {
      const [before, alone] = [await app.state(), await measure(app)];
      const sockets = await harm(app);
      const isReader = name.includes("list");
      const count = async () => (await countHeld(host, DATABASE)).length;
      await until(async () => !isReader || await count() > 0);
      const [during, held] = [await app.state(), await count()];
      const beside = await measure(app);
      // The application itself cuts those that read nothing
      await until(async () => await count() === 0, { seconds: PATIENCE_S });
      for (const socket of sockets) socket.close();
      const after = await assertBack(app, host, { before });
      const heaps = [before, during, after].map(({ heapUsed }) => Math.round(heapUsed / 1e6));
      await report(
        `${name}: p99 of others ${alone.toFixed(0)}, then ${beside.toFixed(0)} ms; ` +
          `${held} cursors, heap ${heaps.join(", ")} MB`,
      );
    });
  }
  await host.dropDatabase();
  await host.close();
});

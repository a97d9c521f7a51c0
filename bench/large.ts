/**
 * What grows with the size of an application: a collection of ten million entities, a thousand tenants with twenty models,
 * ten thousand subscribers of live lists over four processes. Run by `deno task bench large`.
 * @module
 */
import mongoose from "mongoose";
import { fileURLToPath } from "node:url";
import { withDatabase } from "../tests/harness/database_uri.ts";
import { startMongo } from "../tests/harness/mongo/start_mongo.ts";
import { startApp, type StartedApp } from "../tests/reach/support/start_app.ts";
import { until } from "../tests/support/until.ts";
import { quantile } from "./figures.ts";

const ENTITIES = 10_000_000;
const TENANTS = 1000;
const MODELS = 20;
const SUBSCRIBERS = 10_000;
const PROCESSES = 4;

const cwd = fileURLToPath(new URL("../", import.meta.url));
const command = [
  ...[Deno.execPath(), "run", "--quiet", "--no-check", "-A", "bench/servers/large.ts"],
] as const;

function start(uri: string, tenants = ""): Promise<StartedApp> {
  const [name = "", ...args] = command;
  return startApp([name, ...args], { cwd, env: { BENCH_URI: uri, BENCH_TENANTS: tenants } });
}

function print(...cells: readonly unknown[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}

async function readState({ url }: StartedApp): Promise<{ cpuMs: number; mb: number }> {
  return await (await fetch(`${url}/state`)).json();
}

/** Prints the median time of an answer, of at most five. */
async function time(url: string, title: string, headers: Record<string, string> = {}) {
  const times: number[] = [];
  let status = 0;
  for (let turn = 0; turn < 5 && (times[0] ?? 0) < 10_000; turn++) {
    const begun = performance.now();
    const response = await fetch(url, { headers });
    await response.text();
    status = response.status;
    times.push(performance.now() - begun);
  }
  print(title, status, quantile(times, 0.5).toFixed(1));
}

const STATES = ["new", "open", "held", "done"];

/** Fills a collection inside of the database, which is faster than from outside. */
async function seedEntities(uri: string): Promise<void> {
  const connection = await mongoose.createConnection(uri).asPromise();
  const thousand = ENTITIES / 1000;
  await connection.collection("thousands").insertMany(
    Array.from({ length: thousand }, (_, at) => ({ _id: at as never })),
  );
  const n = { $add: [{ $multiply: ["$_id", 1000] }, "$at"] };
  await connection.collection("thousands").aggregate([
    { $project: { at: { $range: [0, 1000] } } },
    { $unwind: "$at" },
    {
      $project: {
        _id: 0,
        __v: { $literal: 0 },
        n,
        name: { $concat: ["entity number ", { $toString: n }] },
        state: { $arrayElemAt: [STATES, { $mod: [n, STATES.length] }] },
      },
    },
    { $out: "entities" },
  ]).toArray();
  await connection.collection("entities").createIndexes([
    // A page is sorted by `_id` too. Without it in the index, the first page takes three seconds.
    { key: { n: 1, _id: 1 } },
    { key: { state: 1, n: 1, _id: 1 } },
  ]);
  await connection.close();
}

async function measureEntities(uri: string): Promise<void> {
  await seedEntities(uri);
  await using app = await start(uri);
  const all = `${app.url}/entities`;
  const q = (filter: object) => `q=${encodeURIComponent(JSON.stringify(filter))}`;
  print("ten million entities", "status", "ms");
  print("---", "---:", "---:");
  await time(`${all}?sort=n`, "first page");
  const page = await (await fetch(`${all}?sort=n&skip=9000000&limit=1`)).json();
  await time(`${all}?sort=n&after=${page[0]._id}`, "page after entity 9,000,000");
  await time(`${all}?sort=n&skip=1000000`, "page with `skip=1000000`");
  const exact = { prefer: "count=exact" };
  await time(`${all}?sort=n`, "first page, with its total", exact);
  await time(
    `${all}?sort=n&${q({ state: "open" })}`,
    "2.5 million of them, with their total",
    exact,
  );
  const bounded = `${app.url}/bounded?sort=n&${q({ state: "open" })}`;
  await time(bounded, "the same, total `upTo` 10,000", exact);
  await time(
    `${all}?${q({ state: "open", n: { $gt: 5e6 } })}`,
    "by an index of two fields, in the order of `_id`",
  );
  await time(`${all}?${q({ name: "entity number 1" })}`, "by a field without an index");
  await time(`${all}?search=9999999`, "`search` of a word that one entity has");
  await time(`${all}?group=state`, "groups of all entities");
}

/** Sends a request of each tenant to each model, sixteen at once. Returns the milliseconds of CPU of each request. */
async function sendAll(app: StartedApp, method: "GET" | "POST"): Promise<number> {
  const before = await readState(app);
  let next = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (let at = next++; at < TENANTS * MODELS; at = next++) {
      const response = await fetch(`${app.url}/m${at % MODELS}`, {
        method,
        headers: { "x-tenant": `t${Math.floor(at / MODELS)}`, "content-type": "application/json" },
        body: method === "POST" ? `{"name":"a"}` : null,
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}`);
    }
  }));
  return ((await readState(app)).cpuMs - before.cpuMs) / (TENANTS * MODELS);
}

async function measureTenants(uri: string, kind: "field" | "databases"): Promise<void> {
  const begun = performance.now();
  await using app = await start(uri, kind);
  const started = performance.now() - begun;
  const { mb } = await readState(app);
  const costs = [await sendAll(app, "POST"), await sendAll(app, "GET"), await sendAll(app, "GET")];
  const after = await readState(app);
  print(kind, ...[started, mb, after.mb].map(Math.round), ...costs.map((ms) => ms.toFixed(2)));
}

/** Opens a subscriber. Calls `onEvent` with the text of each event after the list. */
async function subscribe(url: string, onEvent: (text: string) => void): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(url);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  const head =
    `GET /entities?limit=1&sort=n HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n`;
  await socket.write(new TextEncoder().encode(head));
  const decoder = new TextDecoder();
  const bytes = new Uint8Array(1 << 14);
  void (async () => {
    for (;;) {
      const size = await socket.read(bytes).catch(() => null);
      if (size === null) return;
      onEvent(decoder.decode(bytes.subarray(0, size)));
    }
  })();
  return socket;
}

async function measureSubscribers(uri: string): Promise<void> {
  const host = await mongoose.createConnection(uri).asPromise();
  const entities = host.collection("entities");
  await entities.insertOne({ n: -1, name: "a", state: "0", __v: 0 });
  const apps = await Promise.all(Array.from({ length: PROCESSES }, () => start(uri)));
  const before = await Promise.all(apps.map(readState));
  let ready = 0;
  let got: number[] = [];
  const onEvent = (text: string) => {
    if (text.includes("event: ready")) ready++;
    const [, at] = /"state":"(\d{5,})"/.exec(text) ?? [];
    if (at !== undefined) got.push(Date.now() - Number(at));
  };
  const begun = performance.now();
  const sockets: Deno.TcpConn[] = [];
  for (let at = 0; at < SUBSCRIBERS; at++) {
    sockets.push(await subscribe(apps[at % PROCESSES]?.url ?? "", onEvent));
  }
  await until(() => ready === SUBSCRIBERS, { seconds: 300 });
  const opened = performance.now() - begun;
  const open = await Promise.all(apps.map(readState));
  const all: number[] = [];
  const changes = 20;
  for (let change = 0; change < changes; change++) {
    got = [];
    await entities.updateOne({ n: -1 }, { $set: { state: String(Date.now()) } });
    await until(() => got.length === SUBSCRIBERS, { seconds: 60 });
    all.push(...got);
  }
  const after = await Promise.all(apps.map(readState));
  const sum = (of: (at: number) => number) => apps.reduce((total, _, at) => total + of(at), 0);
  const grown = sum((at) => (open[at]?.mb ?? 0) - (before[at]?.mb ?? 0));
  const cpu = sum((at) => (after[at]?.cpuMs ?? 0) - (open[at]?.cpuMs ?? 0)) / changes;
  print(
    "subscribers",
    "seconds to open",
    "KB each",
    "CPU ms/change",
    "p50 ms",
    "p99 ms",
    "last ms",
  );
  print("---:", "---:", "---:", "---:", "---:", "---:", "---:");
  print(
    ...[SUBSCRIBERS, (opened / 1000).toFixed(1), (grown * 1024 / SUBSCRIBERS).toFixed(1)],
    ...[cpu, ...[0.5, 0.99, 1].map((part) => quantile(all, part))].map(Math.round),
  );
  for (const socket of sockets) socket.close();
  await Promise.all(apps.map((app) => app[Symbol.asyncDispose]()));
  await host.close();
}

/** Measures the named parts, or all of them, and prints tables. */
export async function benchLarge(parts: readonly string[]): Promise<void> {
  await using mongo = await startMongo({ replicaSet: 1 });
  const isDue = (name: string) => parts.length === 0 || parts.includes(name);
  if (isDue("subscribers")) await measureSubscribers(withDatabase(mongo.uri, "subscribers"));
  if (isDue("tenants")) {
    print("tenants by", "start ms", "MB", "MB after", "CPU ms, create", "first list", "later list");
    print("---", "---:", "---:", "---:", "---:", "---:", "---:");
    await measureTenants(withDatabase(mongo.uri, "tenants"), "field");
    await measureTenants(withDatabase(mongo.uri, "tenants"), "databases");
  }
  if (isDue("entities")) await measureEntities(withDatabase(mongo.uri, "large"));
}

/** The costs of many entities, of many tenants with many models, and of many subscribers over several processes. @module */
import type mongoose from "mongoose";
import { request } from "../tests/harness/request.ts";
import { until } from "../tests/support/until.ts";
import { openDatabase } from "./database.ts";
import { quantile } from "./figures.ts";
import { cpuTime, memoryOf, openWorkspace, type RunningServer } from "./programs.ts";
import { startServer, type Workspace } from "./programs.ts";
import { LARGE } from "./servers.ts";
import { Subscribers } from "./subscribers.ts";
import { table } from "./tables.ts";

const MODELS = 20;
const PROCESSES = 4;
const STATES = ["new", "open", "held", "done"];

/** Fills a collection inside of the database, which is faster than from outside. */
async function seedEntities(connection: mongoose.Connection, entities: number): Promise<void> {
  const thousands = Array.from({ length: entities / 1000 }, (_, at) => ({ _id: at as never }));
  await connection.collection("thousands").insertMany(thousands);
  const n = { $add: [{ $multiply: ["$_id", 1000] }, "$at"] };
  const entity = {
    _id: 0,
    __v: { $literal: 0 },
    n,
    name: { $concat: ["entity number ", { $toString: n }] },
    state: { $arrayElemAt: [STATES, { $mod: [n, STATES.length] }] },
  };
  await connection.collection("thousands").aggregate([
    { $project: { at: { $range: [0, 1000] } } },
    { $unwind: "$at" },
    { $project: entity },
    { $out: "entities" },
  ]).toArray();
  await connection.collection("entities").createIndexes([
    // A page is sorted by `_id` too. Without it in the index, the first page takes three seconds.
    { key: { n: 1, _id: 1 } },
    { key: { state: 1, n: 1, _id: 1 } },
  ]);
}

/** Measures the median time of an answer, of at most five. */
async function time(url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const times: number[] = [];
  let status = 0;
  while (times.length < 5 && (times[0] ?? 0) < 10_000) {
    const begun = performance.now();
    ({ status } = await request(url, { headers }));
    times.push(performance.now() - begun);
  }
  return [`${status}`, quantile(times, 0.5).toFixed(1)];
}

async function measureEntities(workspace: Workspace, share: number): Promise<void> {
  const entities = 10_000_000 / share;
  await using database = await openDatabase(true);
  await seedEntities(database.connection, entities);
  await using app = await startServer(LARGE, { workspace, database });
  const url = `http://127.0.0.1:${app.port}`;
  const q = (filter: object) => `q=${encodeURIComponent(JSON.stringify(filter))}`;
  const open = q({ state: "open" });
  const openBehind = q({ state: "open", n: { $gt: entities / 2 } });
  const behind = entities * 0.9;
  const { body } = await request<{ _id: string }[]>(
    `${url}/entities?sort=n&skip=${behind}&limit=1`,
  );
  const exact = { prefer: "count=exact" };
  const requests: readonly (readonly [title: string, path: string, headers?: typeof exact])[] = [
    ["first page", "/entities?sort=n"],
    [
      `page after entity ${behind.toLocaleString("en-US")}`,
      `/entities?sort=n&after=${body[0]?._id}`,
    ],
    ["page with `skip=1000000`", "/entities?sort=n&skip=1000000"],
    ["first page, with its total", "/entities?sort=n", exact],
    ["2.5 million of them, with their total", `/entities?sort=n&${open}`, exact],
    ["the same, total `upTo` 10,000", `/bounded?sort=n&${open}`, exact],
    ["by an index of two fields, in the order of `_id`", `/entities?${openBehind}`],
    ["by a field without an index", `/entities?${q({ name: "entity number 1" })}`],
    ["`search` of a word that one entity has", `/entities?search=${entities - 1}`],
    ["groups of all entities", "/entities?group=state"],
  ];
  const rows: string[][] = [];
  for (const [title, path, headers] of requests) {
    rows.push([title, ...await time(url + path, headers)]);
  }
  console.log(table([`${entities.toLocaleString("en-US")} entities`, "status", "ms"], rows));
}

/** Sends a request of each tenant to each model, sixteen at once. Returns the milliseconds of CPU of each request. */
async function sendAll(app: RunningServer, method: string, tenants: number): Promise<string> {
  const before = cpuTime(app.pid);
  const count = tenants * MODELS;
  let next = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (let at = next++; at < count; at = next++) {
      const headers = { "x-tenant": `t${Math.floor(at / MODELS)}` };
      const body = method === "POST" ? { body: { name: "a" } } : {};
      const url = `http://127.0.0.1:${app.port}/m${at % MODELS}`;
      const { status, text } = await request(url, { method, headers, ...body });
      if (status >= 300) throw new Error(`${status} ${text}`);
    }
  }));
  return ((cpuTime(app.pid) - before) / count).toFixed(2);
}

async function measureTenants(workspace: Workspace, share: number): Promise<void> {
  const tenants = 1000 / share;
  const rows: string[][] = [];
  for (const kind of ["field", "databases"]) {
    await using database = await openDatabase(true);
    const env = { BENCH_TENANTS: kind };
    await using app = await startServer(LARGE, { workspace, database }, env);
    const [started, costs] = [memoryOf(app.pid, "VmRSS"), [] as string[]];
    for (const method of ["POST", "GET", "GET"]) costs.push(await sendAll(app, method, tenants));
    const sizes = [app.startMs, started, memoryOf(app.pid, "VmRSS")];
    rows.push([kind, ...sizes.map((size) => size.toFixed()), ...costs]);
  }
  const head = ["tenants by", "start ms", "MB", "MB after", "CPU ms, create", "first list"];
  console.log(table([...head, "later list"], rows));
}

async function measureSubscribers(workspace: Workspace, share: number): Promise<void> {
  const subscribers = 10_000 / share;
  await using database = await openDatabase(true);
  const entities = database.connection.collection("entities");
  await entities.insertOne({ n: -1, name: "a", state: "0", __v: 0 });
  await using stack = new AsyncDisposableStack();
  const apps = await Promise.all(Array.from({ length: PROCESSES }, () => {
    return startServer(LARGE, { workspace, database });
  }));
  for (const app of apps) stack.use(app);
  const sum = (of: (pid: number) => number) => apps.reduce((total, { pid }) => total + of(pid), 0);
  const memory = () => sum((pid) => memoryOf(pid, "VmRSS"));
  const closed = memory();
  const begun = performance.now();
  using all = new Subscribers();
  for (let at = 0; at < subscribers; at++) {
    const { port = 0 } = apps[at % PROCESSES] ?? {};
    await all.open(port, "/entities?limit=1&sort=n");
  }
  await all.areReady();
  const opened = performance.now() - begun;
  const grown = memory() - closed;
  const before = sum(cpuTime);
  const changes = 20;
  for (let change = 1; change <= changes; change++) {
    await entities.updateOne({ n: -1 }, { $set: { state: String(Date.now()) } });
    await until(() => all.latencies.length === change * subscribers);
  }
  const cpuMs = (sum(cpuTime) - before) / changes;
  const head = ["subscribers", "seconds to open", "KB each", "CPU ms/change", "p50 ms", "p99 ms"];
  const times = [0.5, 0.99, 1].map((part) => quantile(all.latencies, part));
  console.log(table([...head, "last ms"], [[
    ...[String(subscribers), (opened / 1000).toFixed(1), (grown * 1024 / subscribers).toFixed(1)],
    ...[cpuMs, ...times].map((figure) => figure.toFixed()),
  ]]));
}

const PARTS = {
  subscribers: measureSubscribers,
  tenants: measureTenants,
  entities: measureEntities,
};

/** Measures the named parts, or all of them, and prints tables. A quick run measures a hundredth. */
export async function benchLarge(names: readonly string[], isQuick: boolean): Promise<void> {
  const workspace = await openWorkspace([LARGE]);
  const parts = names.filter((name) => !name.startsWith("--"));
  for (const [name, measure] of Object.entries(PARTS)) {
    if (parts.length === 0 || parts.includes(name)) await measure(workspace, isQuick ? 100 : 1);
  }
}

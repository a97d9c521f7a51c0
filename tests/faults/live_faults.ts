import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Client } from "../support/client.ts";
import { client } from "../support/client.ts";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { openGet, readSome } from "../support/sockets.ts";
import { asQuery } from "../support/support.ts";
import { until } from "../support/until.ts";
import { bundleApp } from "./support/bundle_app.ts";
import { Follower, hasList } from "./support/follower.ts";
import { APP_NAME, type AppState, DATABASE, openApp } from "./support/open_app.ts";
import { openReplicaSet, type ReplicaSet, restart, signal } from "./support/replica_set.ts";

/** How long the writers write. */
const SECONDS = isLong ? 60 : 25;

const TENANTS = Array.from({ length: 10 }, (_, index) => `T${index}`);

/** How many subscribers come and vanish. */
const VANISHING = isLong ? 10_000 : 2000;

const MAIN = "live_app.ts";

type App = Awaited<ReturnType<typeof openApp>>;

interface LiveState extends AppState {
  readonly timers?: number;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

/** The lists of a tenant. */
function pathsOf(board: string): readonly string[] {
  return [
    "/tickets",
    `/tickets${asQuery({ level: { $gte: 5 } })}`,
    `/tickets${asQuery({ $or: [{ state: "open" }, { level: 1 }] })}`,
    "/tickets?sort=-level",
    "/pages?sort=level&limit=5",
    "/hooked",
    "/tickets?select=state,tenant",
    `/tickets${asQuery({ state: { $regex: "^o" } })}`,
    "/pages?sort=-level,state",
    `/boards/${board}/lines`,
  ];
}

/** Writes over HTTP, as a tenant at a time. */
async function writeOnce(app: Client, boards: ReadonlyMap<string, string>): Promise<void> {
  const tenant = pick(TENANTS);
  const options = { headers: { "x-tenant": tenant } };
  const level = Math.floor(Math.random() * 10);
  const body = { level, state: pick(["open", "closed", "odd"]) };
  const [ticket] = (await app.get<{ _id: string }[]>("/pages?limit=1", options)).body;
  const lines = `/boards/${boards.get(tenant)}/lines`;
  const path = `/tickets/${ticket?._id}`;
  await pick([
    () => app.post("/tickets", body, options),
    () => app.post("/tickets", body, options),
    () => app.patch(path, body, options),
    () => app.delete(path, options),
    () => app.delete(`/tickets${asQuery({ level })}`, options),
    () => app.post(lines, { tenant, level }, options),
    async () => {
      const { body: [line] } = await app.get<{ _id: string }[]>(lines, options);
      await app.delete(`${lines}/${line?._id}`, options);
    },
  ])();
}

/** Writes as those do who know nothing of the application. */
async function writeBare({ connection }: ReplicaSet): Promise<void> {
  const tickets = connection.collection("tickets");
  const tenant = pick(TENANTS);
  const level = Math.floor(Math.random() * 10);
  const rows = () =>
    Array.from({ length: 20 }, () => ({ tenant: pick(TENANTS), level, state: "open", price: "p" }));
  await pick<() => Promise<unknown>>([
    () => tickets.insertMany(rows()),
    () => tickets.updateMany({ tenant, level }, { $set: { state: "closed", price: "dear" } }),
    () => tickets.updateMany({ level }, { $inc: { level: 1 } }),
    // Entities that move from one tenant to another
    () => tickets.updateMany({ tenant, level }, { $set: { tenant: pick(TENANTS) } }),
    () => tickets.deleteMany({ level: { $gt: 9 } }),
    () =>
      tickets.bulkWrite([
        { updateOne: { filter: { tenant }, update: { $set: { level } } } },
        { deleteOne: { filter: { level } } },
        { insertOne: { document: { tenant, level, state: "open" } } },
      ]),
  ])();
}

/** What an entity has stored. */
type Stored = Readonly<Record<string, unknown>> & { readonly tenant?: string };

/** Learns from the database whose entities there have been. */
async function recordTenants({ uri }: ReplicaSet) {
  const host = await mongoose.createConnection(uri, { dbName: DATABASE }).asPromise();
  const tenants = new Map<string, Set<string>>();
  const stream = host.getClient().db(DATABASE).watch([], { fullDocument: "updateLookup" });
  const boards = new Map<string, string>();
  const add = (id: unknown, tenant: unknown) => {
    const known = tenants.get(String(id)) ?? new Set();
    tenants.set(String(id), known.add(String(tenant)));
  };
  stream.on("change", (change) => {
    if (!("documentKey" in change)) return;
    const { updateDescription: { updatedFields } = {}, fullDocument } = change as {
      updateDescription?: { updatedFields?: Stored };
      fullDocument?: Stored;
    };
    const id = String(change.documentKey._id);
    for (const each of [updatedFields, fullDocument]) {
      if (each?.tenant !== undefined) add(id, each.tenant);
    }
    if (change.ns.coll === "tickets") return;
    // The tenant of a board stays the same, and its lines are written at its paths `lines` and `lines.<n>`
    const tenant = boards.get(id) ?? fullDocument?.tenant;
    if (tenant === undefined) return;
    boards.set(id, tenant);
    for (const [path, value] of Object.entries({ ...fullDocument, ...updatedFields })) {
      if (!/^lines(\.\d+)?$/.test(path)) continue;
      for (const line of [value].flat() as { readonly _id: unknown }[]) add(line._id, tenant);
    }
  });
  stream.on("error", () => {});
  return { tenants, stop: () => stream.close().then(() => host.close()) };
}

/** How many change streams the application has on each collection. */
async function streamsOf({ connection }: ReplicaSet): Promise<Map<string, number>> {
  const found = await connection.getClient().db("admin").aggregate([
    { $currentOp: { idleCursors: true, allUsers: true } },
    {
      $match: {
        appName: APP_NAME,
        "cursor.originatingCommand.pipeline.0.$changeStream": { $exists: true },
      },
    },
  ]).toArray();
  const cursors = new Map(found.map(({ cursor, ns }) => [String(cursor.cursorId), String(ns)]));
  const counts = new Map<string, number>();
  for (const ns of cursors.values()) counts.set(ns, (counts.get(ns) ?? 0) + 1);
  return counts;
}

/** Gives a board to each tenant. */
async function makeBoards(app: App): Promise<Map<string, string>> {
  const boards = new Map<string, string>();
  for (const tenant of TENANTS) {
    const { _id } = await app.created("/boards", {}, { headers: { "x-tenant": tenant } });
    boards.set(tenant, _id);
  }
  return boards;
}

/** Waits until all followers have what GETs show. */
async function allSame(followers: readonly Follower[]): Promise<void> {
  let others: readonly Follower[] = followers;
  const look = async () => {
    const same = await Promise.all(followers.map(hasList));
    others = followers.filter((_, index) => !same[index]);
    return others.length === 0;
  };
  await until(look, { seconds: 60, everyMs: 500 }).catch(() => {});
  assertEquals(others.map(({ url, headers, list }) => [url, headers, list.text.length]), []);
}

/** Writes until a moment, whatever fails meanwhile. */
async function keepWriting(end: number, { everyMs, write }: {
  readonly everyMs: number;
  readonly write: () => Promise<void>;
}): Promise<number> {
  let count = 0;
  while (performance.now() < end) {
    await Promise.race([write(), pause(15_000)]).then(() => count++, () => {});
    await pause(everyMs);
  }
  return count;
}

/** Writes in three ways, and kills the primary in the middle; gives how often was written. */
async function writeAndKill(
  set: ReplicaSet,
  { app, boards }: { readonly app: App; readonly boards: ReadonlyMap<string, string> },
): Promise<number> {
  const end = performance.now() + SECONDS * 1000;
  const http = { everyMs: 20, write: () => writeOnce(client(app.url), boards) };
  const bare = { everyMs: 60, write: () => writeBare(set) };
  const writing = Promise.all([http, http, bare].map((each) => keepWriting(end, each)));
  await pause(SECONDS * 500);
  const member = await set.primary();
  signal(member, "SIGKILL");
  const counts = await writing;
  await restart(member);
  await set.whole();
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Checks that nobody has ever got what is not his. */
function checkWires(followers: readonly Follower[], tenants: ReadonlyMap<string, Set<string>>) {
  let seen = 0;
  let unknown = 0;
  for (const { ids, tenants: shown, headers: { "x-tenant": own = "" }, url } of followers) {
    assertEquals([...shown].filter((tenant) => tenant !== own), [], url);
    for (const id of ids) {
      seen++;
      const whose = tenants.get(id);
      if (whose === undefined) unknown++;
      else assert(whose.has(own), `${url} of ${own} was told of ${id} of ${[...whose]}`);
    }
  }
  return { seen, unknown };
}

/** Opens each list of each tenant. */
function followAll(app: App, boards: ReadonlyMap<string, string>): Follower[] {
  return TENANTS.flatMap((tenant, index) =>
    pathsOf(boards.get(tenant) as string).map((path, at) => {
      const role = (index + at) % 3 === 0 && { "x-role": "admin" };
      return new Follower(app.url + path, { "x-tenant": tenant, ...role });
    })
  );
}

/** Has 100 subscribers read while others write and the primary is killed. */
async function followThrough(how: string, command?: readonly [string, ...string[]]): Promise<void> {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri, { main: MAIN, ...command && { command } });
  const boards = await makeBoards(app);
  const { tenants, stop } = await recordTenants(set);
  const followers = followAll(app, boards);
  await until(() => followers.every(({ streams }) => streams > 0));
  assertEquals([...(await streamsOf(set)).values()], [1, 1]);
  const writes = await writeAndKill(set, { app, boards });
  for (const each of followers) each.isPatient = true;
  await allSame(followers);
  assertEquals([...(await streamsOf(set)).values()], [1, 1]);
  await Promise.all(followers.map((each) => each.stop()));
  await pause(1000);
  const { seen, unknown } = checkWires(followers, tenants);
  await stop();
  const { rejections, failures } = await app.state();
  const streams = followers.reduce((sum, each) => sum + each.streams, 0);
  const resumed = followers.reduce((sum, each) => sum + each.resumed, 0);
  await report(
    `live on ${how}: ${writes} writes in ${SECONDS} s, ${streams} streams, ${resumed} continued, ` +
      `${seen} identifiers told (${unknown} of lines or lost), 0 foreign`,
  );
  assertEquals([rejections, failures], [[], []]);
  assert(resumed > 0);
}

test("100 subscribers have what a GET shows, and never had more, whatever happens", async (t) => {
  await t.step("on Deno", () => followThrough("Deno"));
  if (!isLong) return;
  await t.step("on Node", async () => {
    await using node = await bundleApp(MAIN);
    await followThrough("Node", node.command);
  });
});

/** Opens streams that read nothing after their beginning, and vanish. */
async function comeAndVanish(app: App, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 200) {
    const headers = "Accept: text/event-stream\r\nX-Tenant: T1\r\n";
    const path = pick(["/tickets", "/tickets?sort=level", "/hooked", "/pages?limit=3"]);
    const sockets = await Promise.all(
      Array.from({ length: Math.min(left, 200) }, () => openGet(app.url + path, { headers })),
    );
    await Promise.all(sockets.map((socket) => readSome(socket)));
    for (const socket of sockets) socket.close();
  }
}

test("subscribers that vanish without a word leave nothing", async () => {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri, { main: MAIN });
  const rows = Array.from({ length: 200 }, (_, level) => ({ tenant: "T1", level, state: "open" }));
  await set.connection.collection("tickets").insertMany(rows);
  const settle = async () => {
    await until(async () => (await streamsOf(set)).size === 0);
    await until(async () => (await app.state()).sockets <= 2);
    return await app.state() as LiveState;
  };
  await comeAndVanish(app, 400);
  const before = await settle();
  await comeAndVanish(app, VANISHING);
  const after = await settle();
  const grown = (after.heapUsed - before.heapUsed) / 1e6;
  await report(
    `live: ${VANISHING} subscribers came and vanished: heap ${grown.toFixed(1)} MB more, ` +
      `${after.sockets} sockets, timers ${before.timers} → ${after.timers}, 0 cursors`,
  );
  assert(grown < 10, `${grown} MB`);
  assertEquals(after.timers, before.timers);
  assertEquals(after.failures, []);
});

test("readers who are too slow cost no memory", async () => {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri, { main: MAIN });
  const tickets = set.connection.collection("tickets");
  await tickets.insertOne({ tenant: "T1", level: 0 });
  const headers = "Accept: text/event-stream\r\nX-Tenant: T1\r\n";
  const sockets = await Promise.all(
    Array.from({ length: 50 }, () => openGet(`${app.url}/tickets`, { headers })),
  );
  for (const socket of sockets) await readSome(socket);
  const update = async (level: number) => {
    const state = `${level}${"x".repeat(200_000)}`;
    await tickets.updateOne({ tenant: "T1" }, { $set: { level, state } });
    await pause(60);
  };
  for (let level = 0; level < 60; level++) await update(level);
  const before = await app.state();
  for (let level = 60; level < 300; level++) await update(level);
  const after = await app.state();
  const grown = (after.rss - before.rss) / 1e6;
  await report(`live: 50 readers who read nothing of 48 MB each: ${grown.toFixed(1)} MB more`);
  assert(grown < 150, `${grown} MB`);
  for (const socket of sockets) socket.close();
});

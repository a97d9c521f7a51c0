import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Client } from "../client.ts";
import { report } from "../harness/report.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support.ts";
import { until } from "../until.ts";
import { bundleApp } from "./support/bundle_app.ts";
import { type AppState, DATABASE, openApp } from "./support/open_app.ts";
import { countHeld } from "./support/stored.ts";

/** How long clients send requests. `SOAK_SECONDS=600` is the long run. */
const SECONDS = Number(Deno.env.get("SOAK_SECONDS") ?? 10);

const CLIENTS = 32;

/** How much more JavaScript may hold after all requests than after the first fifth of them. */
const MOST_MB = 4;

/** Creates an entity with parts and references, reads, lists and updates it, and removes all of it again. */
async function live(api: Client): Promise<void> {
  const { _id, __v } = await api.created("/plain", { count: 0, single: {} });
  const path = `/plain/${_id}`;
  const part = await api.created(`${path}/parts`, { count: 1 });
  const link = await api.created(`${path}/links`, { count: 1 });
  const { headers } = await api.get(path);
  const tag = headers.get("etag") ?? "";
  const replies = [
    await api.get(path, { headers: { "if-none-match": tag } }),
    await api.get(`/plain${asQuery({ count: { $gte: 0 } })}`),
    await api.patch(`/hooked/${_id}`, { count: 1 }, { headers: { "if-match": tag } }),
    await api.patch(path, { count: 2 }, { headers: { "if-match": `"${__v}.x"` } }),
    await api.patch(`${path}/parts/${part._id}`, { count: 2 }),
    await api.patch(path, { count: "no number" }),
    await api.delete(`${path}/links/${link._id}`),
    await api.delete(`${path}/seen/${part._id}`),
    await api.delete(`/hooked/${_id}`),
    await api.get(path),
  ];
  const statuses = replies.map(({ status }) => status);
  assertEquals(statuses, [304, 200, 200, 412, 200, 400, 204, 204, 204, 404]);
}

/** How many requests {@linkcode live} sends. */
const REQUESTS = 14;

/** Has clients send requests for some time; gives how many they have sent. */
async function soak(api: Client, seconds: number): Promise<number> {
  const end = performance.now() + 1000 * seconds;
  let lives = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (; performance.now() < end; lives++) await live(api);
  }));
  return REQUESTS * lives;
}

const inMB = ({ heapUsed, rss }: AppState) =>
  `${Math.round(heapUsed / 1e6)} MB of ${Math.round(rss / 1e6)} MB`;

/** Asserts that an application holds nothing of the requests that it has answered. */
async function assertSound(command?: readonly [string, ...string[]]): Promise<string> {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using app = await openApp(mongo.uri, command && { command });
  await until(async () => (await app.get("/plain")).status === 200);
  const first = await soak(app, SECONDS / 5);
  const before = await app.state();
  const rest = await soak(app, SECONDS - SECONDS / 5);
  const after = await app.state();
  assertEquals([after.pid, after.rejections, after.failures], [before.pid, [], []]);
  const told = `${inMB(before)} after ${first} requests, ${inMB(after)} after ${rest} more`;
  assert(after.heapUsed - before.heapUsed < MOST_MB * 1e6, told);
  const host = await mongoose.createConnection(mongo.uri).asPromise();
  await until(async () => await countHeld(host, DATABASE) === 0);
  await host.close();
  return told;
}

test("an application that goes on on Deno does not grow", async () => {
  await report(`${SECONDS} s of ${CLIENTS} clients on Deno: ${await assertSound()}`);
});

test("an application that goes on on Node does not grow", async () => {
  await using node = await bundleApp();
  const told = await assertSound(node.command);
  await report(`${SECONDS} s of ${CLIENTS} clients on Node: ${told}`);
});

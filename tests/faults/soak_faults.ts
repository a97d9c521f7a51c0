import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Client } from "../support/client.ts";
import { report } from "../harness/report.ts";
import { type RunningMongo, startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";
import { until } from "../support/until.ts";
import { bundleApp } from "./support/bundle_app.ts";
import { type AppState, DATABASE, openApp } from "./support/open_app.ts";
import { pause } from "./support/others.ts";
import { countHeld } from "./support/stored.ts";

type App = Awaited<ReturnType<typeof openApp>>;

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

/**
 * Has clients send requests for some time; gives how many they have sent. A machine whose disk stalls answers some
 * clients with a 503. It may be one for each client, and the report says why.
 */
async function soak(app: App, seconds: number): Promise<number> {
  const end = performance.now() + 1000 * seconds;
  let lives = 0;
  let cut = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (; performance.now() < end; lives++) {
      await live(app).catch(async (error) => {
        const { outages } = await app.state();
        if (outages.length === 0 || ++cut > CLIENTS) throw error;
        await report(`Soak: ${error.message.split("\n")[0]}; ${outages}`);
      });
    }
  }));
  return REQUESTS * lives;
}

const inMB = ({ heapUsed, external, rss }: AppState) =>
  [heapUsed, external, rss].map((bytes) => (bytes / 1e6).toFixed(1)).join(", ");

/** Asserts that an application holds little more than before. */
function assertSmall(before: AppState, after: AppState): string {
  assertEquals([after.pid, after.rejections, after.failures], [before.pid, [], []]);
  const told = `${inMB(before)}, then ${inMB(after)} MB`;
  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  assert(grown < MOST_MB * 1e6, told);
  return told;
}

/** Some memory is only given back by the second run of the collector of garbage. */
async function settledState(app: App): Promise<AppState> {
  await app.state();
  await pause(500);
  return await app.state();
}

/** Asserts that an application holds nothing of the requests that it has answered; tells what it holds. */
async function assertSound(t: Deno.TestContext, app: App, mongo: RunningMongo): Promise<void> {
  // The first write creates the collections, which a busy disk delays
  await until(async () => (await app.post("/plain", {})).status === 201);
  const how = t.name.split(" ").at(-1);
  await t.step("it does not grow", async () => {
    const first = await soak(app, SECONDS / 5);
    const before = await settledState(app);
    const rest = await soak(app, SECONDS - SECONDS / 5);
    const told = assertSmall(before, await settledState(app));
    await report(
      `${first} requests, then ${rest} more within ${SECONDS} s on ${how}: heap, external and resident memory ${told}`,
    );
  });
  const host = await mongoose.createConnection(mongo.uri).asPromise();
  await until(async () => await countHeld(host, DATABASE) === 0);
  await host.close();
}

test("what an application holds while it goes on on Deno", async (t) => {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using app = await openApp(mongo.uri);
  await assertSound(t, app, mongo);
});

test("what an application holds while it goes on on Node", async (t) => {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using node = await bundleApp();
  await using app = await openApp(mongo.uri, { command: node.command });
  await assertSound(t, app, mongo);
});

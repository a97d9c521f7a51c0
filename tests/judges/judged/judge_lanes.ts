import fc from "fast-check";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../harness/database.ts";
import { type Trial, trials } from "./arbitrary_worlds.ts";
import { hold } from "./hold.ts";
import { serveWorld } from "./serve_world.ts";
import type { World } from "./world.ts";

/** What a worker judges. */
export interface Lanes {
  /** Each lane has a seed of its own. */
  readonly seeds: readonly number[];
  /** The place of a failure, which is repeated and made smaller. */
  readonly path?: string | undefined;
  /** How many requests each lane sends. */
  readonly requests: number;
  /** The connection string of a replica set, if each request is sent as a batch. */
  readonly batchesOn?: string | undefined;
}

/** How many requests the worker has sent, or how its judge failed. */
export type Judged = { readonly sent: number } | { readonly failure: string };

/** How many requests to judge an application gets at most; what it gets on average, those that compare answers included. */
const [MOST, USUAL] = [300, 200];

const stop = new AbortController();

/** Judges applications one after another; gives how many requests they got. */
async function judgeLane(seed: number, lanes: Lanes): Promise<number> {
  const { path, requests, batchesOn } = lanes;
  let sent = 0;
  const property = fc.asyncProperty(trials(MOST), async ({ world, asks }: Trial) => {
    if (stop.signal.aborted) return;
    await using app = await serveWorld(world, { inBatches: batchesOn !== undefined });
    let now: World = world;
    for (const ask of asks) now = await hold(app, now, ask);
    sent += app.sent();
  });
  const again = path === undefined ? { endOnFailure: true } : { path };
  const numRuns = Math.ceil(requests / USUAL);
  await fc.assert(property, { seed, numRuns, ...again }).catch((error) => {
    stop.abort();
    throw error;
  });
  return sent;
}

async function judgeLanes(lanes: Lanes): Promise<Judged> {
  await using _database = await openDatabase(lanes.batchesOn);
  const judged = await Promise.allSettled(lanes.seeds.map((seed) => judgeLane(seed, lanes)));
  const failed = judged.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") return { failure: Deno.inspect(failed.reason) };
  const sums = judged.map((each) => each.status === "fulfilled" ? each.value : 0);
  return { sent: sums.reduce((sum, each) => sum + each, 0) };
}

parentPort?.once("message", () => stop.abort());
parentPort?.postMessage(await judgeLanes(workerData as Lanes));

import fc from "fast-check";
import { openDatabase } from "./harness/database.ts";
import { test } from "./harness/testing.ts";
import { type Trial, trials } from "./judged/arbitrary_worlds.ts";
import { hold } from "./judged/hold.ts";
import { serveWorld } from "./judged/serve_world.ts";
import type { World } from "./judged/world.ts";

const SEED = Number(Deno.env.get("JUDGE_SEED") ?? 20261123);

/** The `path` that a failure prints: with it and the seed, that failure is repeated and made smaller. */
const PATH = Deno.env.get("JUDGE_PATH");

/** How many requests are judged. `JUDGE_REQUESTS=1000000` is the long run. */
const REQUESTS = Number(Deno.env.get("JUDGE_REQUESTS") ?? 4000);

/** How many requests an application gets at most. */
const MOST = 300;

/** How many applications are judged at once. Each lane has a seed of its own. */
const LANES = PATH === undefined ? 4 : 1;

/** Judges applications one after another; gives how many requests they got. */
async function judgeLane(seed: number, stop: AbortController): Promise<number> {
  let sent = 0;
  const property = fc.asyncProperty(trials(MOST), async ({ world, asks }: Trial) => {
    if (stop.signal.aborted) return;
    await using app = await serveWorld(world);
    let now: World = world;
    for (const ask of asks) now = await hold(app, now, ask);
    sent += app.sent();
  });
  const again = PATH === undefined ? { endOnFailure: true } : { path: PATH };
  const numRuns = Math.ceil(2 * REQUESTS / MOST / LANES);
  await fc.assert(property, { seed, numRuns, ...again }).catch((error) => {
    stop.abort();
    throw error;
  });
  return sent;
}

test("whatever a client sends, answers show and writes change what an independent judge allows", async (t) => {
  await using _database = await openDatabase();
  const stop = new AbortController();
  const lanes = Array.from({ length: LANES }, (_, lane) => judgeLane(SEED + lane, stop));
  const judged = await Promise.allSettled(lanes);
  const failed = judged.find(({ status }) => status === "rejected");
  if (failed !== undefined) await Promise.all(lanes);
  const sent = judged.reduce(
    (sum, each) => sum + (each.status === "fulfilled" ? each.value : 0),
    0,
  );
  await t.step(`${sent} requests, seeds from ${SEED} on`, () => {});
});

import { assert } from "@std/assert";
import { Worker } from "node:worker_threads";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import type { Judged, Lanes } from "./judged/judge_lanes.ts";

const SEED = Number(Deno.env.get("JUDGE_SEED") ?? 20261123);

/** The `path` that a failure prints: with it and the seed that it prints, that failure is repeated and made smaller. */
const PATH = Deno.env.get("JUDGE_PATH");

/** How many requests are judged. `JUDGE_REQUESTS=1000000` is the long run. */
const REQUESTS = Number(Deno.env.get("JUDGE_REQUESTS") ?? casesOf(10_000, 1000));

/** How many threads judge, each in several applications at once. */
const [THREADS, LANES] = PATH === undefined ? [2, 3] : [1, 1];

/** Starts a thread; gives what becomes of it. */
function judgeIn(worker: Worker): Promise<Judged> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

function lanesOf(thread: number): Lanes {
  const seeds = Array.from({ length: LANES }, (_, lane) => SEED + thread * LANES + lane);
  return { seeds, path: PATH, requests: Math.ceil(REQUESTS / THREADS / LANES) };
}

test("whatever a client sends, answers show and writes change what an independent judge allows", async (t) => {
  const workers = Array.from({ length: THREADS }, (_, thread) => {
    const url = new URL("./judged/judge_lanes.ts", import.meta.url);
    return new Worker(url, { workerData: lanesOf(thread) });
  });
  const judged = await Promise.all(workers.map(async (worker) => {
    const each = await judgeIn(worker);
    if ("failure" in each) { for (const other of workers) other.postMessage("stop"); }
    return each;
  }));
  await Promise.all(workers.map((worker) => worker.terminate()));
  const failures = judged.flatMap((each) => "failure" in each ? [each.failure] : []);
  assert(failures.length === 0, failures.join("\n"));
  const sent = judged.reduce((sum, each) => sum + ("sent" in each ? each.sent : 0), 0);
  await t.step(`${sent} requests, seeds from ${SEED} on`, () => {});
});

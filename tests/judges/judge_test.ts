import { assert } from "@std/assert";
import { Worker } from "node:worker_threads";
import { casesOf } from "../harness/report.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import type { Judged, Lanes } from "./judged/judge_lanes.ts";

const SEED = Number(Deno.env.get("JUDGE_SEED") ?? 20261123);

/** The `path` that a failure prints: with it and the seed that it prints, that failure is repeated and made smaller. */
const PATH = Deno.env.get("JUDGE_PATH");

/** How many requests are judged. `JUDGE_REQUESTS=1000000` is the long run. */
const REQUESTS = Number(Deno.env.get("JUDGE_REQUESTS") ?? casesOf(1200, 250));

const JUDGE = new URL("./judged/judge_lanes.ts", import.meta.url);

/** How many threads judge, each in several applications at once. */
const [THREADS, LANES] = PATH === undefined ? [casesOf(2, 1), casesOf(3, 1)] : [1, 1];

/** How many requests are judged that are sent as batches. */
const IN_BATCHES = casesOf(REQUESTS / 4, 75);

/** Starts a thread; gives what becomes of it. */
function judgeIn(worker: Worker): Promise<Judged> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

test("requests in batches have answers and effects that the judge allows", async (t) => {
  const mongo = await sharedReplicaSet();
  const lanes = { ...lanesOf(7), requests: Math.ceil(IN_BATCHES / LANES), batchesOn: mongo };
  const worker = new Worker(JUDGE, { workerData: lanes });
  const judged = await judgeIn(worker);
  await worker.terminate();
  assert("sent" in judged, "failure" in judged ? judged.failure : "");
  await t.step(`${judged.sent} requests in batches, seeds from ${SEED} on`, () => {});
});

function lanesOf(thread: number): Lanes {
  const seeds = Array.from({ length: LANES }, (_, lane) => SEED + thread * LANES + lane);
  return { seeds, path: PATH, requests: Math.ceil(REQUESTS / THREADS / LANES) };
}

test("whatever a client sends, answers show and writes change what an independent judge allows", async (t) => {
  const workers = Array.from({ length: THREADS }, (_, thread) => {
    return new Worker(JUDGE, { workerData: lanesOf(thread) });
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

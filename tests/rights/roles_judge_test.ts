import fc from "fast-check";
import { assert } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { type Trial, trials } from "./roles/arbitrary_roles.ts";
import { RolesJudge } from "./roles/roles_judge.ts";
import { serveRoles } from "./roles/serve_roles.ts";

const SEED = Number(Deno.env.get("JUDGE_SEED") ?? 20261123);

/** The `path` that a failure prints: with it and the seed that it prints, that failure is repeated and made smaller. */
const PATH = Deno.env.get("JUDGE_PATH");

/** How many requests are judged, each of them sent twice. `JUDGE_REQUESTS=50000` is the long run. */
const REQUESTS = Number(Deno.env.get("JUDGE_REQUESTS") ?? casesOf(600, 100));

/** How many applications are judged side by side. */
const LANES = PATH === undefined ? casesOf(4, 1) : 1;

/** How many requests an application gets at most; the first ones get less. */
const MOST = REQUESTS < 5000 ? 300 : 1000;

/** Judges applications one after another; counts what they answer. */
async function judgeLane(
  seed: number,
  { stop, answers }: { readonly stop: AbortController; readonly answers: Map<string, number> },
): Promise<void> {
  let judged = 0;
  const property = fc.asyncProperty(trials(MOST), async ({ world, asks }: Trial) => {
    if (judged >= REQUESTS / LANES) return;
    await using app = await serveRoles(world);
    const judge = new RolesJudge(app, await app.stored());
    for (const ask of asks) {
      if (stop.signal.aborted || judged >= REQUESTS / LANES) return;
      judged++;
      const { status } = await judge.judge(ask);
      const kind = `${ask.method} ${status}`;
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
    }
  });
  const again = PATH === undefined ? { endOnFailure: true } : { path: PATH };
  const numRuns = Math.max(10, Math.ceil(10 * REQUESTS / LANES / MOST));
  await fc.assert(property, { seed, numRuns, ...again }).catch((error) => {
    stop.abort();
    throw error;
  });
}

test("what a function hides from a reader is to him what is hidden from everyone", async (t) => {
  const mongo = await sharedReplicaSet();
  await using _database = await openDatabase(mongo);
  const shared = { stop: new AbortController(), answers: new Map<string, number>() };
  const lanes = Array.from({ length: LANES }, (_, lane) => judgeLane(SEED + lane, shared));
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
  const sum = [...shared.answers.values()].reduce((sum, each) => sum + each, 0);
  const told = [...shared.answers].sort().map(([kind, count]) => `${kind}: ${count}`).join(", ");
  await t.step(`${sum} requests, seeds from ${SEED} on: ${told}`, () => {});
  assert(sum > 0);
});

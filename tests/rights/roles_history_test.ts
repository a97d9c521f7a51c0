import fc from "fast-check";
import { assert } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { histories } from "./roles/arbitrary_histories.ts";
import { HistoryJudge } from "./roles/history_judge.ts";
import { serveRoles } from "./roles/serve_roles.ts";

const SEED = Number(Deno.env.get("JUDGE_SEED") ?? 20261127);

/** The `path` that a failure prints: with it and the seed that it prints, that failure is repeated and made smaller. */
const PATH = Deno.env.get("JUDGE_PATH");

/** How many applications are judged. */
const WORLDS = Number(Deno.env.get("JUDGE_WORLDS") ?? casesOf(6, 5));

test("a history shows to a role what GET has shown to it at each version", async (t) => {
  const mongo = await sharedReplicaSet();
  await using _database = await openDatabase(mongo);
  const judged = { records: 0, values: 0, reverts: 0 };
  const property = fc.asyncProperty(histories, async ({ world, asks }) => {
    await using app = await serveRoles(world);
    const judge = new HistoryJudge(app, { world, judged });
    await judge.keepVersions();
    for (const ask of asks) await judge.send(ask);
    await judge.judgeRecords();
  });
  const again = PATH === undefined ? { endOnFailure: true } : { path: PATH };
  await fc.assert(property, { seed: SEED, numRuns: WORLDS, ...again });
  await t.step(`seed ${SEED}: ${JSON.stringify(judged)}`, () => {
    assert(judged.values > 0 && judged.reverts > 0);
  });
});

import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

for (const page of ["docs/files.md", "docs/lifecycle.md", "docs/tenants.md", "docs/writes.md"]) {
  test(`${page} shows what its file answers, headers included`, (t) => play(page, t));
}

/** Sends the requests of a page to its file on a replica set, and compares the answers. */
async function play(page: string, t: Deno.TestContext): Promise<void> {
  const steps = readSteps(await Deno.readTextFile(new URL(`../../${page}`, import.meta.url)));
  const open = await loadRecipe(page, "An example");
  const mongo = await sharedReplicaSet();
  await using app = await open(mongo);
  await Promise.all(Object.values(mongoose.connection.models).map((model) => model.init()));
  const rehearsal = new Rehearsal();
  const played = steps.filter(({ turns }) => turns.length > 0);
  assert(played.length > 0, `${page} shows no request`);
  for (const { title, turns } of played) {
    await t.step(title, async () => {
      for (const { line, answer, headers } of turns) {
        const given = parseAnswer(await rehearsal.play(app.url, line, answer));
        assertEquals(given, parseAnswer(answer), line);
        assertEquals(rehearsal.headers(headers), headers, line);
      }
    });
  }
}

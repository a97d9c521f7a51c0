import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const PAGE = "docs/hooks.md";

test(`${PAGE} shows what its file answers, headers included`, async (t) => {
  const steps = readSteps(await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url)));
  const open = await loadRecipe(PAGE, "Hooks that name their fields");
  const mongo = await sharedReplicaSet();
  await using app = await open(mongo);
  await Promise.all(Object.values(mongoose.connection.models).map((model) => model.init()));
  const rehearsal = new Rehearsal();
  for (const { title, turns } of steps.filter(({ turns }) => turns.length > 0)) {
    await t.step(title, async () => {
      for (const { line, answer, headers } of turns) {
        const given = parseAnswer(await rehearsal.play(app.url, line, answer));
        assertEquals(given, parseAnswer(answer), line);
        assertEquals(rehearsal.headers(headers), headers, line);
      }
    });
  }
});

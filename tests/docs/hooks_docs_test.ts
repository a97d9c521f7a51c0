import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { loadFiles } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const PAGE = "docs/hooks.md";

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

Deno.test(`${PAGE} shows what is in examples/notes`, async () => {
  const [, section = ""] = (await read(PAGE)).split("\n## Hooks that name their fields\n");
  const [, code = ""] = /^```ts ignore\n([^]*?)^```$/m.exec(section) ?? [];
  assertEquals(code !== "" && (await read("examples/notes/app.ts")).includes(code), true);
});

test(`${PAGE} shows what examples/notes answers, headers included`, async (t) => {
  const steps = readSteps(await read(PAGE));
  const open = await loadFiles({ "app.ts": await read("examples/notes/app.ts") });
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

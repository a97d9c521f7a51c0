import { assertEquals, equal } from "@std/assert";
import mongoose from "mongoose";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { loadFiles } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps, type Turn } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";
import { until } from "../support/until.ts";

const PAGE = "docs/changes.md";

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

const page = await read(PAGE);
const steps = readSteps(page);
const code = await read("examples/webhooks/app.ts");

Deno.test(`${PAGE} shows what is in examples/webhooks`, () => {
  const [, section = ""] = page.split("\n## Webhooks\n");
  const [, shown = ""] = /^```ts ignore\n([^]*?)^```$/m.exec(section) ?? [];
  assertEquals(shown !== "" && code.includes(shown), true);
});

/** How long a follower may take. */
const SECONDS = 10;

/** Plays a turn; a read is repeated, as the follower may not have handled the change yet. */
async function play(rehearsal: Rehearsal, url: string, { line, answer, headers }: Turn) {
  const expected = [parseAnswer(answer), headers];
  let given: unknown[] = [];
  await until(async () => {
    given = [parseAnswer(await rehearsal.play(url, line, answer)), rehearsal.headers(headers)];
    return /-X|-d/.test(line) || equal(given, expected);
  }, { seconds: SECONDS }).catch(() => {});
  assertEquals(given, expected, line);
}

for (const { title, turns } of steps.filter(({ turns }) => turns.length > 0)) {
  test(`${PAGE} shows what examples/webhooks answers: ${title}`, async () => {
    const open = await loadFiles({ "app.ts": code });
    const mongo = await sharedReplicaSet();
    await using app = await open(mongo);
    const { connection } = mongoose;
    await Promise.all(Object.values(connection.models).map((model) => model.init()));
    const follows = connection.collection("mongrove_follows");
    await until(async () => await follows.countDocuments() === 1);
    const rehearsal = new Rehearsal();
    for (const turn of turns) await play(rehearsal, app.url, turn);
  });
}

import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const PAGE = "docs/adopt.md";

const TITLE = "Three models that move";

const text = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));

test(`${PAGE} shows what its application answers`, async () => {
  const { turns = [] } = readSteps(text).find(({ title }) => title === TITLE) ?? {};
  assertEquals(turns.length, 4);
  await using app = await (await loadRecipe(PAGE, TITLE))();
  const rehearsal = new Rehearsal();
  for (const { line, answer } of turns) {
    const given = parseAnswer(await rehearsal.play(app.url, line, answer));
    assertEquals(given, parseAnswer(answer), line);
  }
});

test(`${PAGE} is short`, () => {
  assert(text.trim().split(/\s+/).length <= 850);
});

import { assertEquals } from "@std/assert";
import { test } from "./harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

for (const page of ["docs/lists.md", "docs/roles.md"]) {
  test(`${page} shows what its file answers, headers included`, async (t) => {
    const steps = readSteps(await Deno.readTextFile(new URL(`../${page}`, import.meta.url)));
    const open = await loadRecipe(page, "An example");
    await using app = await open();
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
}

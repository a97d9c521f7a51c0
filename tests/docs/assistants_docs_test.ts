import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const readPage = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

/** Plays the requests of a page against the file below a heading of it. */
async function rehearse(t: Deno.TestContext, { page, title }: { page: string; title: string }) {
  const steps = readSteps(await readPage(page));
  const open = await loadRecipe(page, title);
  await using app = await open();
  const rehearsal = new Rehearsal();
  for (const { title, turns } of steps.filter(({ turns }) => turns.length > 0)) {
    await t.step(title, async () => {
      for (const { line, answer } of turns) {
        const given = await rehearsal.play(app.url, line, answer);
        assertEquals(parseAnswer(given), parseAnswer(answer), given);
      }
    });
  }
}

test("docs/assistants.md shows what its file answers", (t) =>
  rehearse(t, { page: "docs/assistants.md", title: "An example" }));

test("SKILL.md shows what its application answers", (t) =>
  rehearse(t, { page: "SKILL.md", title: "A minimal application" }));

test("SKILL.md says what assistants find it by", async () => {
  const [, front = ""] = /^---\n(.*?)\n---\n/s.exec(await readPage("SKILL.md")) ?? [];
  const lines = front.split("\n").map((line) => /^(\w+): (.*)$/.exec(line)?.slice(1) ?? []);
  const { name = "", description = "", ...others }: Record<string, string> = Object.fromEntries(
    lines,
  );
  assertEquals([name, Object.keys(others)], ["mongrove", []]);
  assertEquals(description.length > 100 && description.length <= 1024, true);
});

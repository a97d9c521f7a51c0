import { assert, assertEquals, assertRejects, equal } from "@std/assert";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps, type Step } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const ROLES = "docs/roles.md";

const stepsOf = async (page: string): Promise<Step[]> =>
  readSteps(await Deno.readTextFile(new URL(`../../${page}`, import.meta.url)));

for (const page of ["docs/actions.md", "docs/lists.md", ROLES]) {
  test(`${page} shows what its file answers, headers included`, async (t) => {
    const open = await loadRecipe(page, "An example");
    await using app = await open();
    const rehearsal = new Rehearsal();
    for (const { title, turns } of (await stepsOf(page)).filter(({ turns }) => turns.length > 0)) {
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

/** What the page shows, without one of the lines that keep something from customers, as it was and as it becomes. */
const WITHOUT: readonly [string, string][] = [
  ["default: false, hidden: isCustomer", "default: false"],
  ["@prop({ hidden: isCustomer })\n  phone", "@prop()\n  phone"],
  ["type: Number, hidden: isCustomer", "type: Number"],
  ["@prop({ hidden: isCustomer })\n  note", "@prop()\n  note"],
  ['default: "open", readonly: isCustomer', 'default: "open"'],
  ["exists: true, readonly: isCustomer", "exists: true"],
  ["{ customer: nameOf(req) }", "{}"],
  ["{ internal: false }", "{}"],
  ["apart: true", "apart: false"],
  ["exists: true })\n  duplicateOf", "})\n  duplicateOf"],
  ['filters: "listed"', "filters: undefined"],
  ['      filter: ["state", "priority"],\n', ""],
  ["create({ preFetch: isAgent })", "create()"],
  ["all({ preFetch: isAgent, ", "all({ "],
];

for (const [line, other] of WITHOUT) {
  test(`${ROLES} shows what is different without: ${line}`, async () => {
    const open = await loadRecipe(ROLES, "An example", (code) => {
      assertEquals(code.split(line).length, 2);
      return code.replace(line, other);
    });
    await using app = await open();
    const rehearsal = new Rehearsal();
    const different: string[] = [];
    for (const { line, answer } of (await stepsOf(ROLES)).flatMap(({ turns }) => turns)) {
      const given = parseAnswer(await rehearsal.play(app.url, line, answer));
      if (!equal(given, parseAnswer(answer))) different.push(line);
    }
    assert(different.length > 0);
  });
}

test(`${ROLES} does not start without: main: true`, async () => {
  const load = () => loadRecipe(ROLES, "An example", (code) => code.replace("main: true,", ""));
  await assertRejects(load, TypeError, "main: true");
});

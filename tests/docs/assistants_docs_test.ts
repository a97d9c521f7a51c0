import { assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { Request } from "express-types";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpAuthorization } from "@mongrove/mongrove/mcp";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { makeProject } from "./tutorial/make_project.ts";
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

test("docs/assistants.md verifies tokens by the server that has made them", async () => {
  const step = readSteps(await readPage("docs/assistants.md"))
    .find(({ title }) => title === "Assistants that sign in by OAuth");
  await using project = await makeProject();
  await project.write(step?.files ?? {});
  const url = pathToFileURL(join(project.folder, "authorization.ts")).href;
  // deno-lint-ignore mongrove/literal-import -- the file has just been written
  const { authorization } = await import(url) as { authorization: McpAuthorization };
  const tokens: Record<string, object | undefined> = {
    good: { active: true, sub: "ann", aud: authorization.resource, scope: "a b", exp: 1 },
    old: { active: false },
    nobody: { active: true, aud: authorization.resource, exp: 1 },
  };
  using _fetch = stub(globalThis, "fetch", async (_url, init) => {
    const answer = tokens[(init?.body as URLSearchParams).get("token") ?? ""];
    return await Promise.resolve(Response.json(answer ?? {}, { status: answer ? 200 : 500 }));
  });
  const verify = async (token: string) => await authorization.verify(token, {} as Request);
  const { resource: audience } = authorization;
  const expiresAt = new Date(1000);
  const good = { user: { id: "ann" }, audience, scopes: ["a", "b"], expiresAt };
  assertEquals([await verify("good"), await verify("old")], [good, undefined]);
  assertEquals(await verify("nobody"), undefined);
  await assertRejects(() => verify("x"), Error, "The login server answered 500");
});

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

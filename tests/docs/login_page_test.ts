import { assert, assertEquals } from "@std/assert";
import { filesOf } from "../../src/new/template.ts";
import { readSteps } from "./tutorial/read_steps.ts";

Deno.test("docs/login.md shows the files of new --login, and no others of the same names", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/login.md", import.meta.url));
  const made = filesOf("app", { runtime: "deno", login: true });
  const shown = readSteps(page).flatMap(({ files }) => Object.entries(files));
  assertEquals(shown.map(([name]) => name).filter((name) => name in made).length, 5);
  for (const [name, text] of shown) assertEquals(text, made[name] ?? text, name);
  for (const name of Object.keys(made).filter((each) => each.endsWith(".ts"))) {
    assert(page.includes(`\`${name}\``), name);
  }
});

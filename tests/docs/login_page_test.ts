import { assert, assertEquals } from "@std/assert";
import { filesOf } from "../../src/new/template.ts";
import { readSteps } from "./tutorial/read_steps.ts";

Deno.test("docs/login.md shows what is in the files of new --login, and names them all", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/login.md", import.meta.url));
  const made = filesOf("app", { runtime: "deno", login: true });
  const shown = readSteps(page).flatMap(({ files }) => Object.entries(files));
  const names = shown.map(([name]) => name).filter((name) => name in made);
  assertEquals(names, ["login.ts"]);
  for (const [name, text] of shown) assert(made[name]?.includes(text) ?? true, name);
  for (const name of Object.keys(made).filter((each) => each.endsWith(".ts"))) {
    assert(page.includes(`\`${name}\``), name);
  }
});

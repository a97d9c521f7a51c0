import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { longTest } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { makeProject } from "./tutorial/make_project.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

Deno.test("README shows both forms of a model on its first screen", async () => {
  const [screen = ""] = (await read("README.md")).split("\n## ");
  for (const part of ['@rest({ route: "/todos"', "@prop({ required: true })", "define(Todo, {"]) {
    assert(screen.includes(part), part);
  }
});

Deno.test("docs/versions.md says where the proposal of decorators stands", async () => {
  const [, section = ""] = /^## Decorators\n([^]*?)^## /m.exec(await read("docs/versions.md")) ??
    [];
  for (const part of ["stage 2.7", "19 May 2026", "rolldown", "oxc", "models.md"]) {
    assert(section.includes(part), part);
  }
});

/** Prints what two models of docs/models.md declare, without their names and paths. */
const MAIN = `
import { Framework } from "@mongrove/mongrove";
const routes = [Movie, Film].map((each) => JSON.stringify(Framework.describe({ models: [each] })));
console.log(routes.map((each) => each.replaceAll(/Movie|Film|movies|films/g, "")).join("\\n"));
`;

longTest("docs/models.md declares the same model in both forms", async () => {
  await using project = await makeProject();
  const [, block = ""] = /^```ts\n([^]*?)^```$/m.exec(await read("docs/models.md")) ?? [];
  await project.write({ "main.ts": block + MAIN });
  const args = ["run", "-A", "--no-check", "--no-lock", join(project.folder, "main.ts")];
  const output = await runCommand(Deno.execPath(), args, { cwd: project.folder });
  const [movie = "", film] = output.trim().split("\n");
  assertEquals(movie, film);
  assertEquals(JSON.parse(movie).length, 3);
});

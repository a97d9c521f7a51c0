import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { readApp, readTesting } from "./support/readme.ts";
import { tryCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { ANSWERS, converse } from "./support/todo_conversation.ts";
import { openWorkspace } from "./support/workspace.ts";

const { nodeProject, nodes: [oldest, newest] } = openWorkspace();
const newestProject = join(nodeProject, "newest");

/** Serves the application until vitest is ended. */
const SPEC = `import process from "node:process";
import { test } from "vitest";
// A worker outlives the process that has started it, and reports for ever to nobody that process.exit() is forbidden
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
test("serves", async () => {
  await import("./main.ts");
  await new Promise(() => {});
}, 600_000);
`;

/** Lines that a compiler moves: types, and a decorator. */
const FAILS = `function mark(_value: undefined, _context: ClassFieldDecoratorContext): void {}
export class Fails {
  @mark
  name!: string;
  fail(): void {
    throw new Error("here");
  }
}
`;

const FAILS_TEST = `import { test } from "vitest";
import { Fails } from "./fails.ts";
test("fails", () => new Fails().fail());
`;

const RUN = ["node_modules/vitest/vitest.mjs", "run", "serves.test.ts"];

await Deno.writeTextFile(join(nodeProject, "serves.test.ts"), SPEC);
await Deno.writeTextFile(join(newestProject, "serves.test.ts"), SPEC);
await Deno.writeTextFile(join(newestProject, "main.ts"), await readApp());

async function serveWith(node: string, cwd: string): Promise<string[]> {
  await using database = await openDatabase();
  await using app = await startApp([node, ...RUN], { cwd, env: { MONGODB_URI: database.uri } });
  return await converse(app.url);
}

test("vitest 3 compiles and serves the README's application", async () => {
  assertEquals(await serveWith(oldest.path, nodeProject), ANSWERS);
});

test("the newest vitest cannot read decorators by itself", async () => {
  const { code, output } = await tryCommand(newest.path, RUN, { cwd: newestProject });
  assert(code !== 0);
  assertStringIncludes(output, "SyntaxError");
});

test("the newest vitest serves the README's application with the README's plugin", async () => {
  const config = join(newestProject, "vitest.config.ts");
  await Deno.writeTextFile(config, (await readTesting()).vitestConfig);
  try {
    assertEquals(await serveWith(newest.path, newestProject), ANSWERS);
  } finally {
    await Deno.remove(config);
  }
});

test("the newest vitest names the file and the line of what fails under the README's plugin", async () => {
  const config = join(newestProject, "vitest.config.ts");
  await Deno.writeTextFile(config, (await readTesting()).vitestConfig);
  await Deno.writeTextFile(join(newestProject, "fails.ts"), FAILS);
  await Deno.writeTextFile(join(newestProject, "fails.test.ts"), FAILS_TEST);
  try {
    const args = ["node_modules/vitest/vitest.mjs", "run", "fails.test.ts"];
    const { output } = await tryCommand(newest.path, args, { cwd: newestProject });
    assertStringIncludes(output, "fails.ts:6:11");
  } finally {
    for (const name of ["vitest.config.ts", "fails.ts", "fails.test.ts"]) {
      await Deno.remove(join(newestProject, name));
    }
  }
});

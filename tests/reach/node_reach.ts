import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { type Compiler, COMPILERS, SWC_SETTING } from "./support/compilers.ts";
import { readReadme } from "./support/readme.ts";
import { runCommand } from "./support/run_command.ts";
import { startApp } from "./support/start_app.ts";
import { ANSWERS, converse } from "./support/todo_conversation.ts";
import { NODE_INSTALL, type NodeBinary, openWorkspace } from "./support/workspace.ts";

const { nodeProject: cwd, nodes } = openWorkspace();

const PARSER = `{ "parser": { "syntax": "typescript", "decorators": true }, "target": "es2022",`;

await Deno.writeTextFile(join(cwd, "swc.json"), `{ ${SWC_SETTING.replace("{", PARSER)} }`);

const built = new Map<Compiler, Promise<string>>();

/** Compiles once: what comes out does not depend on the Node that runs the compiler. */
function compile(compiler: Compiler): Promise<string> {
  const [program = "node", ...args] = compiler.build ?? ["node", "--version"];
  const path = program === "node" ? nodes[0].path : program;
  const pending = built.get(compiler) ?? runCommand(path, args, { cwd });
  built.set(compiler, pending);
  return pending;
}

async function serveWith(compiler: Compiler, { path }: NodeBinary): Promise<string[]> {
  await compile(compiler);
  await using database = await openDatabase();
  await using app = await startApp([path, ...compiler.run], {
    cwd,
    env: { MONGODB_URI: database.uri },
  });
  return await converse(app.url);
}

for (const [index, node] of nodes.entries()) {
  // Only the loader of tsx depends on the version of Node
  for (const compiler of COMPILERS.filter(({ name }) => index === 0 || name === "tsx")) {
    test(`Node ${node.version} serves the README's application compiled by ${compiler.name}`, async () => {
      assertEquals(await serveWith(compiler, node), ANSWERS);
    });
  }
}

test("README.md names the lines and settings that were used here", async () => {
  const readme = await readReadme();
  const settings = COMPILERS.flatMap(({ setting }) => setting ?? []);
  for (const line of [...NODE_INSTALL, ...settings]) assertStringIncludes(readme, line);
});

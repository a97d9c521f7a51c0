import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { findMongod } from "../harness/mongo/find_mongo.ts";
import { test } from "../harness/testing.ts";
import { readReadme, readTestableApp, readTesting, readTsconfig } from "./support/readme.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { openWorkspace, VITE_7_INSTALL } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

const { path: mongod } = await findMongod({ uri: "" });
const env = { MONGOMS_SYSTEM_BINARY: mongod, MONGOMS_SYSTEM_BINARY_VERSION_CHECK: "false" };

const DENO_INSTALL = "deno add npm:mongodb-memory-server";
const NPM_INSTALL = "npm i -D mongodb-memory-server";

const START = `import { startMongo } from "@mongrove/mongrove/testing"; await startMongo();`;

/** How runtimes run a module's text. */
const EVALUATE: readonly { name: string; cwd: string; command: readonly [string, ...string[]] }[] =
  [
    { name: "Deno", cwd: denoProject, command: [Deno.execPath(), "eval", START] },
    {
      name: `Node ${nodes[0].version}`,
      cwd: nodeProject,
      command: [nodes[0].path, "--input-type=module", "--eval", START],
    },
  ];

for (const { name, cwd, command: [program, ...args] } of EVALUATE) {
  test(`startMongo() says in one line how to install what is missing, in ${name}`, async () => {
    const { code, output } = await tryCommand(program, args, { cwd, env: { ...denoEnv, ...env } });
    const line = output.split("\n").find((each) => each.includes("Error: Cannot start MongoDB"));
    for (const each of [DENO_INSTALL, NPM_INSTALL]) assertStringIncludes(line ?? output, each);
    assertEquals(code, 1);
  });
}

test("Node's projects get mongodb-memory-server when they ask for it, as README.md says", async () => {
  const installed = () => Array.fromAsync(Deno.readDir(join(nodeProject, "node_modules")));
  const isTool = ({ name }: Deno.DirEntry) => name.startsWith("mongodb-memory-server");
  assertEquals((await installed()).filter(isTool), []);
  const [, ...args] = NPM_INSTALL.split(" ");
  await runCommand("npm", [...args, "--no-audit", "--no-fund"], { cwd: nodeProject, env });
  assert((await installed()).some(isTool));
  const readme = await readReadme();
  for (const line of [DENO_INSTALL, NPM_INSTALL, VITE_7_INSTALL]) {
    assertStringIncludes(readme, `\`${line}\``);
  }
});

/** Copies the README's test, with the way to register a test that its comment names. */
async function writeTest(folder: string, name: string, register: string): Promise<void> {
  const { test } = await readTesting();
  await Deno.writeTextFile(join(folder, "app.ts"), await readTestableApp());
  await Deno.writeTextFile(join(folder, name), test.replace(/^import \{ test \}.*$/m, register));
}

test("deno test runs the README's test", async () => {
  const [, ...install] = DENO_INSTALL.split(" ");
  await runCommand(Deno.execPath(), install, { cwd: denoProject, env: denoEnv });
  await writeTest(denoProject, "app.test.ts", "const { test } = Deno;");
  const result = await tryCommand(Deno.execPath(), ["test", "-A", "app.test.ts"], {
    cwd: denoProject,
    env: { ...denoEnv, ...env },
  });
  assertEquals(result.code, 0, result.output);
});

for (const node of nodes) {
  test(`node --test runs the README's test on ${node.version}`, async () => {
    await writeTest(nodeProject, "node.test.ts", 'import { test } from "node:test";');
    const args = ["--import", "tsx", "--test", "node.test.ts"];
    const result = await tryCommand(node.path, args, { cwd: nodeProject, env });
    assertEquals(result.code, 0, result.output);
  });
}

test("node --test runs the README's test compiled by tsc", async () => {
  await writeTest(nodeProject, "tsc.test.ts", 'import { test } from "node:test";');
  const config = { ...JSON.parse(await readTsconfig()), include: ["tsc.test.ts"] };
  await Deno.writeTextFile(join(nodeProject, "tsc.json"), JSON.stringify(config));
  const build = ["node_modules/typescript/bin/tsc", "-p", "tsc.json", "--outDir", "dist/test"];
  await runCommand(nodes[0].path, build, { cwd: nodeProject });
  const args = ["--test", "dist/test/tsc.test.js"];
  const result = await tryCommand(nodes[0].path, args, { cwd: nodeProject, env });
  assertEquals(result.code, 0, result.output);
});

test("vitest 3 runs the README's test", async () => {
  await writeTest(nodeProject, "vitest.test.ts", 'import { test } from "vitest";');
  const args = ["node_modules/vitest/vitest.mjs", "run", "vitest.test.ts"];
  const result = await tryCommand(nodes[0].path, args, { cwd: nodeProject, env });
  assertEquals(result.code, 0, result.output);
});

/** Starts the mongod of the tests more slowly than vitest waits by itself. */
const SLOW = `#!/bin/sh
[ "$1" = --version ] || sleep 5.5
exec "${mongod}" "$@"
`;

test("vitest with Vite 7 runs the README's test where mongod starts slowly", async () => {
  const cwd = join(nodeProject, "vite7");
  const slow = join(cwd, "mongod");
  await Deno.writeTextFile(slow, SLOW, { mode: 0o755 });
  await writeTest(cwd, "vitest.test.ts", 'import { test } from "vitest";');
  const args = ["node_modules/vitest/vitest.mjs", "run", "vitest.test.ts"];
  const own = { ...env, MONGOMS_SYSTEM_BINARY: slow };
  const result = await tryCommand(nodes[1].path, args, { cwd, env: own });
  assertEquals(result.code, 0, result.output);
});

import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { findMongod } from "../harness/mongo/find_mongo.ts";
import { test } from "../harness/testing.ts";
import { readTestableApp, readTesting, readTsconfig } from "./support/readme.ts";
import { tryCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

const { path: mongod } = await findMongod({ uri: "" });
const env = { MONGOMS_SYSTEM_BINARY: mongod, MONGOMS_SYSTEM_BINARY_VERSION_CHECK: "false" };

/** Copies the README's test, with the way to register a test that its comment names. */
async function writeTest(folder: string, name: string, register: string): Promise<void> {
  const { test } = await readTesting();
  await Deno.writeTextFile(join(folder, "app.ts"), await readTestableApp());
  await Deno.writeTextFile(join(folder, name), test.replace(/^import \{ test \}.*$/m, register));
}

test("deno test runs the README's test", async () => {
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

  test(`node --test runs the README's test compiled by tsc on ${node.version}`, async () => {
    await writeTest(nodeProject, "tsc.test.ts", 'import { test } from "node:test";');
    const config = { ...JSON.parse(await readTsconfig()), include: ["tsc.test.ts"] };
    await Deno.writeTextFile(join(nodeProject, "tsc.json"), JSON.stringify(config));
    const build = ["node_modules/typescript/bin/tsc", "-p", "tsc.json", "--outDir", "dist/test"];
    const built = await tryCommand(node.path, build, { cwd: nodeProject });
    assertEquals(built.code, 0, built.output);
    const args = ["--test", "dist/test/tsc.test.js"];
    const result = await tryCommand(node.path, args, { cwd: nodeProject, env });
    assertEquals(result.code, 0, result.output);
  });

  test(`vitest 3 runs the README's test on ${node.version}`, async () => {
    await writeTest(nodeProject, "vitest.test.ts", 'import { test } from "vitest";');
    const args = ["node_modules/vitest/vitest.mjs", "run", "vitest.test.ts"];
    const result = await tryCommand(node.path, args, { cwd: nodeProject, env });
    assertEquals(result.code, 0, result.output);
  });
}

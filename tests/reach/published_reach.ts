import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../harness/tasks/run_deno.ts";
import { test } from "../harness/testing.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { published, denoProject, denoEnv, nodeProject } = openWorkspace();

/** What a user needs, and nothing else. `deno.json` goes with every package. */
const ALLOWED = [
  /^(README|SKILL)\.md$/,
  /^docs\/([a-z_]+|README|SECURITY)\.md$/,
  /^LICENSE$/,
  /^deno\.json$/,
  /^mod\.ts$/,
  /^src\/[a-z_/]+\.ts$/,
  /^src\/admin\/(_built\.d\.ts|built\/page\.js)$/,
];

/** The modules that users import, besides `mod.ts`. */
const NAMES = "admin adopt changes client keys mcp new openapi plugin tanstack testing work";

const ENTRIES = NAMES.split(" ").map((name) => `src/${name}/mod.ts`);

/** The script of the admin page, which is built and not committed. */
const BUILT = "src/admin/built/page.js";

const TEST = /(_test|_reach|_bench)\.ts$/;

/** Lists all modules that an entry of the package reaches, lazily loaded ones included. */
async function listModules(entry: string): Promise<string[]> {
  const options = { cwd: denoProject, env: denoEnv };
  const args = ["info", "--json", "--quiet", "--no-config", "--no-lock", entry];
  const { output } = await tryCommand(Deno.execPath(), args, options);
  const { modules } = JSON.parse(output) as { modules: { specifier: string }[] };
  return modules.map(({ specifier }) => specifier);
}

test("deno publish sends what a user needs, and no more", () => {
  const paths = Object.keys(published);
  const extra = paths.filter((path) => TEST.test(path) || !ALLOWED.some((each) => each.test(path)));
  assertEquals(extra, []);
  for (const path of ["mod.ts", "README.md", "SKILL.md", "LICENSE", BUILT, ...ENTRIES]) {
    assert(paths.includes(path), path);
  }
});

test("npm gets the package with the dependencies that it needs", async () => {
  const path = join(nodeProject, "node_modules/@mongrove/mongrove/package.json");
  const { type, exports, dependencies } = JSON.parse(await Deno.readTextFile(path));
  assertEquals(type, "module");
  assertEquals(Object.keys(exports), [".", ...NAMES.split(" ").map((name) => `./${name}`)]);
  assertEquals(Object.keys(dependencies).sort(), ["express", "mongoose"]);
});

test("the package's modules reach no mongodb-memory-server", async () => {
  const core = await listModules("jsr:@mongrove/mongrove");
  assert(core.some((specifier) => specifier.startsWith("npm:/mongoose@9")), core.join());
  const testing = await listModules("jsr:@mongrove/mongrove/testing");
  assert(testing.some((specifier) => specifier.endsWith("/start_mongo.ts")), testing.join());
  const isTool = (specifier: string) => specifier.includes("mongodb-memory-server");
  assertEquals([...core, ...testing].filter(isTool), []);
});

test("deno doc --html builds the pages of every name", async () => {
  const output = await Deno.makeTempDir();
  const args = ["doc", "--html", `--output=${output}`, "--name=Mongrove", "mod.ts"];
  await runCommand(Deno.execPath(), [...args, ...ENTRIES], { cwd: ROOT.pathname });
  const names = await Array.fromAsync(Deno.readDir(output), ({ name }) => name);
  assert(names.includes("index.html"), names.join());
  await Deno.remove(output, { recursive: true });
});

test("a bundle of the client and its collections holds nothing of the server", async () => {
  const entry = 'export { connect } from "@mongrove/mongrove/client";' +
    'export { collectionOptions } from "@mongrove/mongrove/tanstack";';
  await Deno.writeTextFile(join(nodeProject, "browser.js"), entry);
  const args = ["browser.js", "--bundle", "--platform=browser", "--format=esm"];
  const options = { cwd: nodeProject };
  const bundle = await runCommand("node_modules/.bin/esbuild", args, options);
  // What live() loads is found, too.
  for (const name of ["x-total-count", "last-event-id", "onInsert"]) {
    assert(bundle.includes(name), name);
  }
  for (const name of ["mongoose", "express", "node:", "@tanstack"]) {
    assert(!bundle.includes(name), name);
  }
});

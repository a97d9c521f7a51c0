/**
 * The task `reach`: publishes the package to a registry on the loopback interface, makes projects that use it, and runs
 * the tests whose names end in `_reach.ts`.
 *
 * @module
 */
import { join } from "node:path";
import { openTaskMongo } from "../harness/mongo/task_mongo.ts";
import { say } from "../harness/say.ts";
import { chooseStd } from "../harness/tasks/choose_std.ts";
import { makeNpmPackage } from "../harness/tasks/pack/npm_package.ts";
import { stagePackage, writePackage } from "../harness/tasks/pack/stage_package.ts";
import { runFolder, runTask } from "../harness/tasks/test_folder.ts";
import { serveRegistry } from "./registry/serve_registry.ts";
import { runCommand } from "./support/run_command.ts";
import { fetchNodes, makeDenoProject, makeNodeProject, WORKSPACE } from "./support/workspace.ts";
import type { Workspace } from "./support/workspace.ts";

/** `deno task check` checks the types of the source. */
const PUBLISH = ["publish", "--token", "none", "--allow-dirty", "--no-check"];

/** Publishes the package, and makes what the tests share. */
async function makeWorkspace(folder: string): Promise<Workspace & AsyncDisposable> {
  const registry = serveRegistry();
  const jsrUrl = registry.url;
  say("Making the packages");
  const source = await stagePackage();
  const npmPackage = join(folder, "npm-package");
  await writePackage(npmPackage, await makeNpmPackage(source));
  say("Publishing to a registry of our own");
  const cwd = join(folder, "jsr-package");
  await writePackage(cwd, source);
  await runCommand(Deno.execPath(), PUBLISH, { cwd, env: { JSR_URL: jsrUrl } });
  const bytes = [...registry.published.values()].reduce((sum, { length }) => sum + length, 0);
  say(`Published: ${registry.published.size} files, ${Math.round(bytes / 1024)} KiB`);
  say("Making projects that use the package");
  const [deno, nodeProject, nodes] = await Promise.all([
    makeDenoProject(folder, jsrUrl),
    makeNodeProject(folder, jsrUrl),
    fetchNodes(folder),
  ]);
  const sizes = [...registry.published].map(([path, bytes]) => [path, bytes.length] as const);
  return {
    ...deno,
    jsrUrl,
    npmPackage,
    nodeProject,
    nodes,
    published: Object.fromEntries(sizes),
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  };
}

async function main(args: readonly string[]): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-reach-" });
  try {
    const std = await chooseStd();
    await using mongo = await openTaskMongo();
    await using workspace = await makeWorkspace(folder);
    // Tests install packages into the projects that they share.
    const jobs = { DENO_JOBS: "1" };
    const env = { ...std, ...mongo.env, ...jobs, [WORKSPACE]: JSON.stringify(workspace) };
    return await runFolder("reach", ["--no-check", ...args], env);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

await runTask(main);

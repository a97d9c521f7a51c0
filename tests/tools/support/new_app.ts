import { delimiter, dirname, join } from "node:path";
import { createApp, type CreateAppOptions } from "../../../src/new/mod.ts";
import { makeProject } from "../../docs/tutorial/make_project.ts";
import { makeNpmPackage } from "../../harness/tasks/pack/npm_package.ts";
import { stagePackage, writePackage } from "../../harness/tasks/pack/stage_package.ts";
import { runCommand } from "../../reach/support/run_command.ts";
import { startApp, type StartedApp } from "../../reach/support/start_app.ts";
import { openRuntime } from "./runtimes.ts";

type Kind = Omit<CreateAppOptions, "runtime">;

/** An application that `new` has written, which uses this repository in place of the published package. */
export interface NewApp extends AsyncDisposable {
  readonly folder: string;
  /** Runs a task of the application. */
  run(task: string, args: readonly string[], env: Record<string, string>): Promise<string>;
  /** Starts the application. Its output goes to `log.txt`. */
  start(env: Record<string, string>): Promise<StartedApp>;
}

const LOG = ["sh", "-c", 'exec "$0" "$@" > log.txt'] as const;

/** Makes an application for Deno. */
export async function makeDenoApp(kind: Kind): Promise<NewApp> {
  const project = await makeProject();
  const { folder } = project;
  const { imports: own } = JSON.parse(await Deno.readTextFile(join(folder, "deno.json")));
  await Deno.remove(join(folder, "deno.json"));
  await createApp(folder, { ...kind, runtime: "deno" });
  const path = join(folder, "deno.json");
  const config = JSON.parse(await Deno.readTextFile(path));
  const imports = { ...own, ...config.imports, "@mongrove/mongrove": own["@mongrove/mongrove"] };
  await Deno.writeTextFile(path, JSON.stringify({ ...config, imports }, null, 2));
  const run = (task: string, args: readonly string[], env: Record<string, string>) =>
    runCommand(Deno.execPath(), ["task", "--quiet", task, ...args], { cwd: folder, env });
  return {
    folder,
    run,
    start: (env) => {
      const [, ...args] = config.tasks.start.split(" ");
      return startApp([...LOG, Deno.execPath(), ...args], { cwd: folder, env });
    },
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

/** Makes an application for Node, with the package that npm gets. */
export async function makeNodeApp(kind: Kind): Promise<NewApp> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-new-" });
  const own = join(folder, ".mongrove");
  await writePackage(own, await makeNpmPackage(await stagePackage()));
  await createApp(folder, { ...kind, runtime: "node" });
  const path = join(folder, "package.json");
  const config = JSON.parse(await Deno.readTextFile(path));
  config.dependencies["@mongrove/mongrove"] = "file:.mongrove";
  await Deno.writeTextFile(path, JSON.stringify(config, null, 2));
  const PATH = dirname(await openRuntime("Node 22")) + delimiter + Deno.env.get("PATH");
  const install = ["install", "--install-links", "--no-audit", "--no-fund"];
  await runCommand("npm", install, { cwd: folder, env: { PATH } });
  return {
    folder,
    run: (task, args, env) =>
      runCommand("npm", ["run", task, ...args], { cwd: folder, env: { ...env, PATH } }),
    start: (env) => {
      const [program, ...args] = config.scripts.start.split(" ");
      return startApp([...LOG, program, ...args], { cwd: folder, env: { ...env, PATH } });
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../reach/support/run_command.ts";
import { openRuntime } from "../../tools/support/runtimes.ts";

/** The application as one file with its packages; disposing removes it. */
export interface BundledApp extends AsyncDisposable {
  /** What runs it on Node 24. The Node of the machine may be older than those that are supported. */
  readonly command: readonly [string, ...string[]];
}

/** Makes one file of an application and its packages. */
export async function bundleApp(main = "app.ts"): Promise<BundledApp> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-app-" });
  const file = join(folder, "app.mjs");
  const options = ["--quiet", "--platform=deno", "--format=esm", `--output=${file}`];
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  await runCommand(Deno.execPath(), ["bundle", ...options, main], { cwd });
  return {
    command: [await openRuntime("Node 24"), "--expose-gc", file],
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

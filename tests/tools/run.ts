/**
 * The task `tools`: holds the OpenAPI document, its page, the client and the examples against tools that others wrote.
 * Runs the tests whose names end in `_tools.ts`. What they need is fetched into a cache outside of the repository.
 *
 * @module
 */
import { openTaskMongo } from "../harness/mongo/task_mongo.ts";
import { forwardSignals, runDeno } from "../harness/tasks/run_deno.ts";
import { chooseStd } from "../harness/tasks/choose_std.ts";
import { findChromium } from "./support/find_chromium.ts";
import { LONG, PICTURE, REPORT } from "./support/report.ts";
import { openPythonClient, openSchemathesis } from "./support/python_tools.ts";

async function listTests(): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(new URL(".", import.meta.url)));
  return names.map(({ name }) => `tests/tools/${name}`).filter((path) => path.endsWith("_tools.ts"))
    .sort();
}

/** Fetches at one time what the tests would fetch one after the other. */
async function listPrepared(): Promise<string[]> {
  const fetched = [findChromium(), openSchemathesis(), openPythonClient()];
  await Promise.all(fetched);
  return await listTests();
}

/** The arguments of our own, and the variables that tell the tests. */
const OWN: Readonly<Record<string, string>> = { "--long": LONG, "--picture": PICTURE };

/**
 * `--long` generates more requests, `--picture` takes the picture of the page for the docs; files among the arguments
 * replace the default, which is all.
 */
async function main(given: readonly string[]): Promise<number> {
  const args = given.filter((arg) => !(arg in OWN) && arg !== "--");
  const own = given.flatMap((arg) => arg in OWN ? [[OWN[arg], "1"]] : []);
  const std = await chooseStd();
  await using mongo = await openTaskMongo();
  const files = args.some((arg) => arg.endsWith(".ts")) ? [] : await listPrepared();
  const report = await Deno.makeTempFile({ prefix: "mongrove-tools-" });
  const env = { ...std, ...mongo.env, ...Object.fromEntries(own), [REPORT]: report };
  try {
    const run = ["test", "--quiet", "--parallel", "-A", "--no-check", ...args, ...files];
    const { code } = await runDeno(run, { env });
    console.log(await Deno.readTextFile(report));
    return code;
  } finally {
    await Deno.remove(report);
  }
}

forwardSignals();
try {
  Deno.exit(await main(Deno.args));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exit(1);
}

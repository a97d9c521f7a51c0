/**
 * The task `faults`: ends, hangs and unseats members of a replica set under the requests of many clients, and compares
 * what the clients were told with what is stored. Runs the tests whose names end in `_faults.ts`.
 *
 * @module
 */
import { openTaskMongo } from "../harness/mongo/task_mongo.ts";
import { forwardSignals, runDeno } from "../harness/tasks/run_deno.ts";
import { chooseStd } from "../harness/tasks/choose_std.ts";
import { LONG } from "./support/effort.ts";
import { REPORT } from "./support/report.ts";

async function listTests(): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(new URL(".", import.meta.url)));
  return names.map(({ name }) => `tests/faults/${name}`).filter((path) =>
    path.endsWith("_faults.ts")
  ).sort();
}

/** `--long` runs more rounds with more clients; files among the arguments replace the default, which is all. */
async function main(given: readonly string[]): Promise<number> {
  const args = given.filter((arg) => arg !== "--long" && arg !== "--");
  const long = given.includes("--long") ? { [LONG]: "1" } : {};
  const std = await chooseStd();
  await using mongo = await openTaskMongo();
  const files = args.some((arg) => arg.endsWith(".ts")) ? [] : await listTests();
  const report = await Deno.makeTempFile({ prefix: "mongrove-faults-" });
  const env = { ...std, ...mongo.env, ...long, [REPORT]: report };
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

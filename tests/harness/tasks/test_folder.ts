import { openTaskMongo } from "../mongo/task_mongo.ts";
import { LONG, REPORT } from "../report.ts";
import { chooseStd } from "./choose_std.ts";
import { forwardSignals, ROOT, runDeno } from "./run_deno.ts";

/** A task of the same name runs its tests. The names of its files end in that name. */
export type TestFolder = "faults" | "reach" | "tools";

export interface RunReportedOptions {
  /** `--long`, arguments of `deno test`, and files in the place of all. */
  readonly args: readonly string[];
  /** In addition to the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  readonly prepare?: () => Promise<unknown>;
}

/** Files among the arguments, or all of the folder. */
export async function testsOf(folder: TestFolder, args: readonly string[]): Promise<string[]> {
  if (args.some((arg) => arg.endsWith(".ts"))) return [];
  const entries = await Array.fromAsync(Deno.readDir(new URL(`tests/${folder}`, ROOT)));
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith(`_${folder}.ts`));
  return names.sort().map((name) => `tests/${folder}/${name}`);
}

/** Runs the tests side by side, and prints their reports. */
export async function runReported(
  folder: TestFolder,
  { args, env = {}, prepare }: RunReportedOptions,
): Promise<number> {
  const given = args.filter((arg) => arg !== "--long");
  const long: Record<string, string> = args.includes("--long") ? { [LONG]: "1" } : {};
  const std = await chooseStd();
  await using mongo = await openTaskMongo();
  const files = await testsOf(folder, given);
  if (files.length > 0) await prepare?.();
  const report = await Deno.makeTempFile({ prefix: `mongrove-${folder}-` });
  try {
    const run = ["test", "--quiet", "--parallel", "-A", "--no-check", ...given, ...files];
    const all = { ...std, ...mongo.env, ...long, ...env, [REPORT]: report };
    const { code } = await runDeno(run, { env: all });
    console.log(await Deno.readTextFile(report));
    return code;
  } finally {
    await Deno.remove(report);
  }
}

/** Ends the process with the exit code of the task. */
export async function runTask(
  run: (args: readonly string[]) => Promise<number>,
): Promise<never> {
  forwardSignals();
  try {
    // `deno task` passes on the mark before the task's arguments.
    Deno.exit(await run(Deno.args.filter((arg) => arg !== "--")));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}

import { openTaskMongo } from "../mongo/task_mongo.ts";
import { LONG, REPORT } from "../report.ts";
import { chooseStd } from "./choose_std.ts";
import { forwardSignals, ROOT, runDeno } from "./run_deno.ts";

/** A folder whose tests run by a task of the same name; the names of their files end in that name. */
export type TestFolder = "faults" | "reach" | "tools";

/** Options of {@linkcode runReported}. */
export interface RunReportedOptions {
  /** The arguments: `--long`, those of `deno test`, and files in the place of all. */
  readonly args: readonly string[];
  /** Environment variables besides. */
  readonly env?: Readonly<Record<string, string>>;
  /** Fetches what the tests of the whole folder need. */
  readonly prepare?: () => Promise<unknown>;
}

/** Gives the tests to run: files among the arguments, or all of the folder. */
export async function testsOf(folder: TestFolder, args: readonly string[]): Promise<string[]> {
  if (args.some((arg) => arg.endsWith(".ts"))) return [];
  const entries = await Array.fromAsync(Deno.readDir(new URL(`tests/${folder}`, ROOT)));
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith(`_${folder}.ts`));
  return names.sort().map((name) => `tests/${folder}/${name}`);
}

/** Runs the tests of a folder side by side, and prints what they report. */
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

/** Runs a task with the arguments of the command line, and ends the process with its exit code. */
export async function runTask(
  run: (args: readonly string[]) => Promise<number>,
): Promise<never> {
  forwardSignals();
  try {
    // `deno task` hands on the mark before arguments of the task itself
    Deno.exit(await run(Deno.args.filter((arg) => arg !== "--")));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}

import { openTaskMongo } from "../mongo/task_mongo.ts";
import { LONG, REPORT } from "../report.ts";
import { chooseStd } from "./choose_std.ts";
import { besideReport, FollowedRuns } from "./followed_runs.ts";
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

/** Runs the tests side by side, and prints their reports. */
export async function runReported(
  folder: TestFolder,
  { args, env = {}, prepare }: RunReportedOptions,
): Promise<number> {
  const given = args.filter((arg) => arg !== "--long");
  const long: Record<string, string> = args.includes("--long") ? { [LONG]: "1" } : {};
  const std = await chooseStd();
  await using mongo = await openTaskMongo();
  if (!namesFiles(given)) await prepare?.();
  const report = await Deno.makeTempFile({ prefix: `mongrove-${folder}-` });
  try {
    const all = { ...std, ...mongo.env, ...long, ...env, [REPORT]: report };
    const code = await runFolder(folder, ["--no-check", ...given], all);
    console.log(await Deno.readTextFile(report));
    return code;
  } finally {
    await Deno.remove(report);
  }
}

/**
 * Runs the tests of a folder, or the files among the arguments. With `--again`, the files of a few failed tests run once
 * more, alone.
 */
export async function runFolder(
  folder: TestFolder,
  args: readonly string[],
  env: Record<string, string>,
): Promise<number> {
  const given = args.filter((arg) => arg !== "--again");
  const test = ["test", "--quiet", "-A", "--parallel"];
  if (namesFiles(given)) return (await runDeno([...test, ...given], { env })).code;
  const files = await testsOf(folder);
  const runs = new FollowedRuns();
  const follow = runs.follow(files.length);
  const result = await runDeno([...test, ...given, ...files], { env, follow });
  console.log(result.output);
  const named = given.length < args.length ? runs.fewFailed([result], files) : [];
  if (named.length === 0) return result.code;
  console.log(`\nOnce more, alone: ${named.join(" ")}`);
  const again = given.map((arg) => besideReport(arg, "again"));
  return (await runDeno([...test, ...again, ...named], { env: { ...env, DENO_JOBS: "1" } })).code;
}

function namesFiles(args: readonly string[]): boolean {
  return args.some((arg) => arg.endsWith(".ts"));
}

async function testsOf(folder: TestFolder): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(new URL(`tests/${folder}`, ROOT)));
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith(`_${folder}.ts`));
  return names.sort().map((name) => `tests/${folder}/${name}`);
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

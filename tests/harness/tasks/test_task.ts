import { tmpdir } from "node:os";
import { join } from "node:path";
import { needAdminPage } from "./admin_task.ts";
import { chooseMongoose } from "./choose_mongoose.ts";
import { chooseStd } from "./choose_std.ts";
import {
  GROUP_SIZE,
  groupTests,
  readTestFiles,
  type TestFile,
  writeGroups,
} from "./group_tests.ts";
import { besideReport, FollowedRuns } from "./followed_runs.ts";
import { openTaskMongo } from "../mongo/task_mongo.ts";
import { LONG } from "../report.ts";
import { GROUPED } from "../testing.ts";
import { type DenoResult, existing, runDeno, type RunDenoOptions } from "./run_deno.ts";

/** The tests are left out. Deno ignores files only in its first arguments. */
const SNIPPETS = ["--ignore=src/**/*_test.ts", "src", "mod.ts", "README.md"];

/** See there. */
const PACKAGES = "tests/harness/load_packages.ts";

const FULL = "--long=full";

/** Two more than there are processors, because tests wait for the database and for time-outs. */
const JOBS = navigator.hardwareConcurrency + 2;

/**
 * Runs the tests on one MongoDB.
 *
 * @param given Arguments of `deno test`. Without files, all tests but the long ones run, and with `--doc` all snippets
 * too. `--long` adds the long tests, which also run in a few named files, and `--long=full` all random cases. With
 * `--again`, the files of a few failed tests run once more, alone, so that tests pass that fail only on a busy machine.
 * `--mongoose=VERSION` takes that version of Mongoose, and `oldest` the first allowed one.
 */
export async function runTests(
  given: string[],
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const own = ["--long", FULL, "--again"];
  const { args, flags } = await chooseMongoose(given.filter((arg) => !own.includes(arg)));
  const std = await chooseStd();
  const named = await existing(args.filter((arg) => !arg.startsWith("-")));
  const files = filesIn(await readTestFiles(), named);
  const isFew = named.length > 0 && files.length <= GROUP_SIZE;
  const isFull = given.includes(FULL);
  const isLong = isFew || isFull || given.includes("--long");
  const env = { ...std, ...isLong && { [LONG]: isFull ? "full" : "1" } };
  const load = ["run", "--quiet", ...flags, "--allow-read", "--allow-env", PACKAGES];
  const building = needAdminPage({ isQuick: !isLong });
  await using mongo = await openTaskMongo();
  const loaded = await runDeno(load, { ...options, env: std });
  if (loaded.code !== 0) return loaded;
  await building;
  const test = ["test", "--quiet", "--no-prompt", ...flags, ...permissions(mongo.mongod)];
  const all = { ...options, env: { ...env, ...mongo.env } };
  if (isFew) return await runDeno([...test, ...args], all);
  const others = args.filter((arg) => !named.includes(arg));
  const again = given.includes("--again");
  return await runAll([...test, ...others], { options: all, files, isLong, again });
}

/** With `--doc`, the snippets have a separate run, because they cover nothing. */
async function runAll(
  test: readonly string[],
  { options, files, isLong, again }: {
    readonly options: RunDenoOptions;
    readonly files: readonly TestFile[];
    readonly isLong: boolean;
    readonly again: boolean;
  },
): Promise<DenoResult> {
  const jobs = Number(Deno.env.get("DENO_JOBS") ?? JOBS);
  const run = (args: readonly string[], env: Record<string, string>, more: RunDenoOptions = {}) => {
    const all = new Set([...args, "--no-check", "--parallel"]);
    return runDeno([...all], { ...options, ...more, env: { ...options.env, ...env } });
  };
  const runs = new FollowedRuns();
  const { alone, long, groups } = groupTests(files, isLong);
  const folder = await Deno.makeTempDir({ prefix: "mongrove-tests-" });
  try {
    const modules = await writeGroups(groups, { folder, name: "group" });
    const slow = [...alone, ...await writeGroups(long, { folder, name: "long" })];
    const covering = groups.flat().length;
    const tests = test.filter((arg) => arg !== "--doc");
    const uncovered = (given: readonly string[], name: string) =>
      given.filter((arg) => !arg.startsWith("--coverage")).map((arg) => besideReport(arg, name));
    // Coverage makes a test two thirds slower, and long tests cover next to nothing more.
    const parts = isLong && test.some((arg) => arg.startsWith("--coverage"))
      ? [
        { args: [...uncovered(tests, "long"), ...slow], count: files.length - covering },
        { args: [...tests, ...modules], count: covering },
      ]
      : [{ args: [...tests, ...slow, ...modules], count: files.length }];
    const env = { DENO_JOBS: String(Math.ceil(jobs / parts.length)), [GROUPED]: "1" };
    const snippets = [...uncovered(test, "snippets"), ...SNIPPETS];
    const results = await Promise.all([
      ...parts.filter(({ count }) => count > 0).map(({ args, count }) =>
        run(args, env, { follow: runs.follow(count) })
      ),
      ...test.includes("--doc") ? [run(snippets, { DENO_JOBS: "1" })] : [],
    ]);
    const output = results.map(({ output }) => output).join("\n").trim();
    if (!options.capture) console.log(output);
    const code = results.find(({ code }) => code !== 0)?.code ?? 0;
    const named = again ? runs.fewFailed(results, files.map(({ path }) => path)) : [];
    if (named.length === 0) return { code, output };
    console.log(`\nOnce more, alone: ${named.join(" ")}`);
    return await run([...uncovered(tests, "again"), ...named], { ...env, DENO_JOBS: "1" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The named files, and the files of named folders, or all. */
function filesIn(files: readonly TestFile[], named: readonly string[]): readonly TestFile[] {
  const paths = named.map((each) => join(each, "/"));
  return files.filter(({ path }) =>
    paths.length === 0 || paths.some((each) => `${path}/`.startsWith(each))
  );
}

/**
 * Tests run this Deno for examples, and mongod for replica sets. Without a known binary, one may have to be fetched.
 */
function permissions(mongod: string | undefined): string[] {
  return [
    "--allow-read",
    "--allow-env",
    "--allow-net",
    "--allow-sys",
    ...mongod
      ? [
        `--allow-write=${tmpdir()}`,
        `--allow-run=${[Deno.execPath(), mongod].join(",")}`,
      ]
      : ["--allow-write", "--allow-run"],
  ];
}

import { tmpdir } from "node:os";
import { chooseMongoose } from "./choose_mongoose.ts";
import { chooseStd } from "./choose_std.ts";
import { groupTests, readTestFiles, writeGroups } from "./group_tests.ts";
import { openTaskMongo } from "../mongo/task_mongo.ts";
import { LONG } from "../report.ts";
import { GROUPED } from "../testing.ts";
import { type DenoResult, existing, runDeno, type RunDenoOptions } from "./run_deno.ts";

/** What has snippets, besides `src/`. */
const DOCUMENTED = ["mod.ts", "README.md"];

/** Prepares packages for tests: see there. */
const PACKAGES = "tests/harness/load_packages.ts";

/** How many files run at once: one more than there are processors, as tests wait for the database and for time-outs. */
const JOBS = navigator.hardwareConcurrency + 1;

/**
 * Runs the tests on one MongoDB.
 *
 * @param given Arguments of `deno test`. Files among them replace the default, which is all tests but the long ones,
 * side by side, and with `--doc` all snippets of the documentation too. `--long` adds the long ones.
 * `--mongoose=VERSION` takes that version of Mongoose; `oldest` is the first that the package allows.
 * @param options See {@linkcode RunDenoOptions}.
 * @returns What became of `deno test`.
 */
export async function runTests(
  given: string[],
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const { args, flags } = await chooseMongoose(given.filter((arg) => arg !== "--long"));
  const std = await chooseStd();
  const named = await existing(args.filter((arg) => !arg.startsWith("-")));
  const isLong = named.length > 0 || given.includes("--long");
  const env = { ...std, ...isLong && { [LONG]: "1" } };
  const isChecked = args.includes("--no-check") || named.length > 0;
  const checking = isChecked ? undefined : checkTypes(args, flags, std);
  const load = ["run", "--quiet", ...flags, "--allow-read", "--allow-env", PACKAGES];
  const loaded = await runDeno(load, { ...options, env: std });
  if (loaded.code !== 0) return loaded;
  await using mongo = await openTaskMongo();
  const test = ["test", "--quiet", "--no-prompt", ...flags, ...permissions(mongo.mongod), ...args];
  const all = { ...options, env: { ...env, ...mongo.env } };
  if (named.length > 0) return await runDeno(test, all);
  const tested = await runAll(test, all, isLong);
  const checked = await checking;
  if (checked === undefined || checked.code === 0) return tested;
  if (!options.capture) console.error(checked.output);
  return { code: checked.code, output: `${tested.output}\n${checked.output}` };
}

/** Checks the types of all tests, beside the tests, each of which would wait for it. */
function checkTypes(
  args: readonly string[],
  flags: readonly string[],
  env: Record<string, string>,
): Promise<DenoResult> {
  const doc = args.includes("--doc") ? ["--doc", ...DOCUMENTED] : [];
  return runDeno(["check", "--quiet", ...flags, ...doc, "src", "tests"], { capture: true, env });
}

/** Runs all tests side by side: in groups, or with `--doc`, which would run the files of a group once more, by files. */
async function runAll(
  test: readonly string[],
  options: RunDenoOptions,
  isLong: boolean,
): Promise<DenoResult> {
  const run = (files: readonly string[], env: Record<string, string> = {}) => {
    const jobs = { DENO_JOBS: Deno.env.get("DENO_JOBS") ?? String(JOBS) };
    const args = new Set([...test, "--no-check", "--parallel", ...files]);
    return runDeno([...args], { ...options, env: { ...jobs, ...options.env, ...env } });
  };
  if (test.includes("--doc")) return await run([...DOCUMENTED, "src", "tests"]);
  const { alone, groups } = groupTests(await readTestFiles(), isLong);
  const folder = await Deno.makeTempDir({ prefix: "mongrove-tests-" });
  try {
    return await run([...alone, ...await writeGroups(groups, folder)], { [GROUPED]: "1" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Tests run this Deno (the examples) and mongod (replica sets of their own).
 * Where no binary is known, one may have to be fetched.
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

import { tmpdir } from "node:os";
import { chooseMongoose } from "./choose_mongoose.ts";
import { chooseStd } from "./choose_std.ts";
import { openTaskMongo } from "../mongo/task_mongo.ts";
import { type DenoResult, existing, runDeno, type RunDenoOptions } from "./run_deno.ts";

/** Prepares packages for tests: see there. */
const PACKAGES = "tests/harness/load_packages.ts";

/**
 * Runs the tests on one MongoDB.
 *
 * @param given Arguments of `deno test`; files among them replace the default,
 * which is all tests, and with `--doc` all snippets of the documentation too. `--mongoose=VERSION`
 * takes that version of Mongoose; `oldest` is the first that the package allows.
 * @param options See {@linkcode RunDenoOptions}.
 * @returns What became of `deno test`.
 */
export async function runTests(
  given: string[],
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const { args, flags } = await chooseMongoose(given);
  const std = await chooseStd();
  const load = ["run", "--quiet", ...flags, "--allow-read", "--allow-env", PACKAGES];
  const loaded = await runDeno(load, { ...options, env: std });
  if (loaded.code !== 0) return loaded;
  await using mongo = await openTaskMongo();
  const named = await existing(args.filter((arg) => !arg.startsWith("-")));
  const where = args.includes("--doc") ? ["mod.ts", "README.md", "src", "tests"] : ["src", "tests"];
  const files = named.length > 0 ? [] : await existing(where);
  return await runDeno([
    "test",
    "--quiet",
    "--no-prompt",
    ...flags,
    ...permissions(mongo.mongod),
    ...args,
    ...files,
  ], { ...options, env: { ...std, ...mongo.env } });
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

import { chooseMongoose } from "./choose_mongoose.ts";
import { chooseStd } from "./choose_std.ts";
import { type DenoResult, existing, runDeno, type RunDenoOptions } from "./run_deno.ts";

/**
 * Checks the types of all code, and of the snippets in its documentation.
 *
 * @param given `--mongoose=VERSION` takes that version of Mongoose.
 * @param options See {@linkcode RunDenoOptions}.
 * @returns What became of `deno check`.
 */
export async function runCheck(
  given: readonly string[] = [],
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const env = await chooseStd();
  const files = await existing([
    "mod.ts",
    "README.md",
    "docs/answers.md",
    "docs/hooks.md",
    "docs/lists.md",
    "docs/sub_resources.md",
    "docs/testing.md",
    "src",
    "tests",
    "examples",
  ]);
  const { flags } = await chooseMongoose(given);
  const args = ["check", "--quiet", ...flags, "--doc", ...files];
  return await runDeno(args, { ...options, env });
}

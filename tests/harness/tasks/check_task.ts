import { chooseStd } from "./choose_std.ts";
import { type DenoResult, existing, runDeno, type RunDenoOptions } from "./run_deno.ts";

/**
 * Checks the types of all code, and of the snippets in its documentation.
 *
 * @param options See {@linkcode RunDenoOptions}.
 * @returns What became of `deno check`.
 */
export async function runCheck(
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const env = await chooseStd();
  const files = await existing([
    "mod.ts",
    "README.md",
    "src",
    "tests",
    "examples",
  ]);
  const args = ["check", "--quiet", "--doc", ...files];
  return await runDeno(args, { ...options, env });
}

import { chooseMongoose } from "./choose_mongoose.ts";
import { chooseStd } from "./choose_std.ts";
import { type DenoResult, existing, ROOT, runDeno, type RunDenoOptions } from "./run_deno.ts";

/** tests/tools/assistants_tools.ts checks these, with packages that the repository does not have. */
const UNCHECKED = ["examples/oauth"];

async function listExamples(): Promise<string[]> {
  const folders = await Array.fromAsync(Deno.readDir(new URL("examples/", ROOT)));
  return folders.map(({ name }) => `examples/${name}`).filter((path) => !UNCHECKED.includes(path));
}

/**
 * Also checks the snippets of the documentation.
 *
 * @param given `--mongoose=VERSION` takes that version of Mongoose.
 */
export async function runCheck(
  given: readonly string[] = [],
  options: RunDenoOptions = {},
): Promise<DenoResult> {
  const env = await chooseStd();
  const files = await existing([
    "mod.ts",
    "README.md",
    "SKILL.md",
    "docs/actions.md",
    "docs/admin.md",
    "docs/answers.md",
    "docs/assistants.md",
    "docs/changes.md",
    "docs/files.md",
    "docs/hooks.md",
    "docs/lifecycle.md",
    "docs/lists.md",
    "docs/roles.md",
    "docs/sub_resources.md",
    "docs/tenants.md",
    "docs/testing.md",
    "docs/writes.md",
    "bench/run.ts",
    "bench/servers",
    "src",
    "tests",
    ...await listExamples(),
  ]);
  const { flags } = await chooseMongoose(given);
  const check = ["check", "--quiet", ...flags];
  const checked = await runDeno([...check, "--doc", ...files], { ...options, env });
  if (checked.code !== 0) return checked;
  // The types of browsers would count for all files of the same check
  return await runDeno([...check, "admin"], { ...options, env });
}

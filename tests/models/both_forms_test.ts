import { assert } from "@std/assert";
import { join } from "node:path";
import { LONG } from "../harness/report.ts";
import { groupTests, type TestFile } from "../harness/tasks/group_tests.ts";
import { ROOT } from "../harness/tasks/run_deno.ts";
import { GROUPED, longTest } from "../harness/testing.ts";
import { toDefine } from "../support/forms/to_define.ts";

/** What the tests of the folders below import. */
const COPIED = ["src", "tests", "examples", "mod.ts", "deno.json"];

/** Folders whose modules stay: none of their models is served in the tests below. */
const KEPT = /^(src|tests\/(harness|types|reach|tools|faults))\//;

/** The tests that run, by their subject: paths of files, or of folders with a slash. */
const SUBJECTS = {
  models: ["tests/models/"],
  operations: [
    "tests/reads/all_test.ts",
    "tests/reads/one_test.ts",
    "tests/reads/lean_test.ts",
    "tests/writes/create_test.ts",
    "tests/writes/update_test.ts",
    "tests/writes/remove_test.ts",
    "tests/features/actions/actions_test.ts",
    "tests/features/replace/replace_test.ts",
  ],
} as const;

/** Tests that call `define()` themselves, that run these tests, or that name a decorator in the messages they expect. */
const OF_FORMS =
  /\/(define_\w+|both_forms|circular_imports|reference_forms|field_options)_test\.ts$/;

/** Tests of what depends on models and not on their declarations: connections, and identifiers in all features. */
const OF_MODELS =
  /\/(connection_plugins|identifiers_\w+|index_builds|one_mongoose|two_copies|uuids)_test\.ts$/;

/** A test file, with models that `define()` declares, and how many these are. */
interface Rewritten extends TestFile {
  readonly count: number;
}

/** Copies the repository, with models that `define()` declares in the place of decorated ones. */
async function copyRepository(folder: string): Promise<Rewritten[]> {
  const files: Rewritten[] = [];
  const copy = async (path: string): Promise<void> => {
    const from = new URL(path, ROOT);
    if ((await Deno.stat(from)).isDirectory) {
      await Deno.mkdir(join(folder, path), { recursive: true });
      for await (const { name } of Deno.readDir(from)) await copy(`${path}/${name}`);
    } else if (/\.tsx?$/.test(path) && !KEPT.test(path)) {
      const { text, count } = toDefine(await Deno.readTextFile(from));
      const isOther = OF_FORMS.test(path) || OF_MODELS.test(path);
      if (path.endsWith("_test.ts") && !isOther) files.push({ path, text, count });
      await Deno.writeTextFile(join(folder, path), text);
    } else {
      await Deno.copyFile(from, join(folder, path));
    }
  };
  for (const path of COPIED) await copy(path);
  return files.toSorted((a, b) => a.path < b.path ? -1 : 1);
}

/** Runs tests of the copy as the task does: some files share an isolate, and no test takes long. */
async function runTests(folder: string, files: readonly TestFile[]): Promise<string> {
  const { alone, groups } = groupTests(files, false);
  const modules = await Promise.all(groups.map(async (paths, index) => {
    const imports = paths.map((path) => `import "./${path}";`);
    await Deno.writeTextFile(join(folder, `group_${index}_test.ts`), imports.join("\n"));
    return `group_${index}_test.ts`;
  }));
  const { [LONG]: _long, DENO_COVERAGE_DIR: _coverage, ...env } = Deno.env.toObject();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--quiet", "--no-check", "-A", ...alone, ...modules],
    cwd: folder,
    clearEnv: true,
    env: { ...env, NO_COLOR: "1", [GROUPED]: "1" },
    stdin: "null",
  }).output();
  const output = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
  assert(code === 0, output.slice(output.indexOf(" ERRORS ")).slice(0, 5_000));
  return output;
}

longTest("define() passes the tests of decorated models, rewritten as its own", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-forms-" });
  try {
    const rewritten = await copyRepository(folder);
    const all: Rewritten[] = [];
    for (const [subject, paths] of Object.entries(SUBJECTS)) {
      await t.step(subject, () => {
        const files = rewritten.filter(({ path }) => paths.some((each) => path.startsWith(each)));
        const classes = files.reduce((sum, { count }) => sum + count, 0);
        assert(classes > 20, `${classes} classes`);
        all.push(...files);
      });
    }
    const [, passed] = /^ok \| (\d+) passed/m.exec(await runTests(folder, all)) ?? [];
    assert(Number(passed) > all.length, `${passed} tests`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

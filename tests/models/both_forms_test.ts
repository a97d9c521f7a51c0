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

/** The tests that run, by their subject: those whose models use most options of classes and fields. */
const SUBJECTS = {
  models: [
    "tests/models/date_only_test.ts",
    "tests/models/field_types_test.ts",
    "tests/models/inheritance_test.ts",
    "tests/models/model_errors_test.ts",
    "tests/models/models_test.ts",
    "tests/models/schema_options_test.ts",
  ],
  operations: [
    "tests/parts/parts_nested_test.ts",
    "tests/reads/all_test.ts",
    "tests/reads/lean_test.ts",
    "tests/writes/create_test.ts",
  ],
} as const;

const PATHS: readonly string[] = Object.values(SUBJECTS).flat();

/** A test file, with models that `define()` declares, and how many these are. */
interface Rewritten extends TestFile {
  readonly count: number;
}

/** Copies the repository without its other tests, with models that `define()` declares in the place of decorated ones. */
async function copyRepository(folder: string): Promise<Rewritten[]> {
  const files: Rewritten[] = [];
  const copy = async (path: string): Promise<void> => {
    const from = new URL(path, ROOT);
    if ((await Deno.stat(from)).isDirectory) {
      await Deno.mkdir(join(folder, path), { recursive: true });
      for await (const { name } of Deno.readDir(from)) await copy(`${path}/${name}`);
    } else if (path.endsWith("_test.ts") && !PATHS.includes(path)) {
      return;
    } else if (/\.tsx?$/.test(path) && !KEPT.test(path)) {
      const { text, count } = toDefine(await Deno.readTextFile(from));
      if (path.endsWith("_test.ts")) files.push({ path, text, count });
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
    for (const [subject, paths] of Object.entries<readonly string[]>(SUBJECTS)) {
      await t.step(subject, () => {
        const files = rewritten.filter(({ path }) => paths.includes(path));
        assert(files.length === paths.length, `${files.length} files`);
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

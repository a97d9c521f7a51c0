import { ensureAdminPage } from "./admin_task.ts";
import { runCheck } from "./check_task.ts";
import { readCoverage, reportCoverage } from "./coverage.ts";
import { publishDry } from "./pack/stage_package.ts";
import { checkRooms } from "./rooms.ts";
import { type DenoResult, existing, runDeno } from "./run_deno.ts";
import { runTests } from "./test_task.ts";

/** The minimal coverage of the lines of `src/`, in per cent. */
const FLOOR = 95;

interface Step {
  name: string;
  run: () => Promise<DenoResult>;
}

function deno(...args: string[]): () => Promise<DenoResult> {
  return () => runDeno(args, { capture: true });
}

async function lint(): Promise<DenoResult> {
  const all = await runDeno(["lint"], { capture: true });
  if (all.code !== 0) return all;
  const sources = await existing(["src", "mod.ts"]);
  const args = ["lint", "--rules-include=no-console", ...sources];
  return await runDeno(args, { capture: true });
}

/** Deno's report would list test code too. */
function coverageIn(folder: string): string[] {
  return [`--coverage=${folder}`, "--coverage-raw-data-only"];
}

async function test({ folder, version }: Gate): Promise<DenoResult> {
  // The step before has checked the types.
  const args = ["--long", "--doc", "--no-check", ...coverageIn(folder), ...version];
  const result = await runTests(args, { capture: true });
  // A green run shows only its closing lines, of tests and of snippets.
  const summary = result.output.match(/^.*\d+ passed.*\d+ failed.*$/gm)?.join("\n") ?? "";
  return result.code === 0 ? { code: 0, output: summary } : result;
}

async function cover(folder: string): Promise<DenoResult> {
  const { table, percent } = reportCoverage(await readCoverage(folder), FLOOR);
  const isEnough = percent >= FLOOR;
  const output = isEnough
    ? table
    : `${table}\nLess than ${FLOOR} % of the lines of src/ are covered`;
  return { code: isEnough ? 0 : 1, output };
}

interface Gate {
  readonly folder: string;
  /** Whether a test run has put the coverage there already. */
  readonly isTested: boolean;
  readonly version: readonly string[];
}

/** The modules that users import. */
const ENTRIES = [
  "mod.ts",
  ..."admin adopt changes client keys mcp new openapi plugin tanstack testing work".split(" ").map((
    name,
  ) => `src/${name}/mod.ts`),
];

/** The steps of a group run side by side with the steps of other groups. */
function listSteps(gate: Gate): Step[][][] {
  const types: Step[] = [{ name: "check", run: () => runCheck(gate.version, { capture: true }) }];
  const others: Step[] = [
    { name: "fmt", run: deno("fmt", "--check") },
    { name: "lint", run: lint },
    { name: "rooms", run: checkRooms },
    { name: "doc", run: deno("doc", "--lint", ...ENTRIES) },
    { name: "admin", run: ensureAdminPage },
    // The step beside checks the types
    { name: "publish", run: () => publishDry("--no-check") },
  ];
  const tests: Step[] = [
    { name: "test", run: () => test(gate) },
    { name: "coverage", run: () => cover(gate.folder) },
  ];
  return [[others, types], [tests.filter(({ name }) => !(gate.isTested && name === "test"))]];
}

/** Their output is worth a look even if they pass. */
const TELLING = new Set(["test", "coverage"]);

async function runStep({ name, run }: Step): Promise<number> {
  const start = performance.now();
  const { code, output } = await run();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const verdict = code === 0 ? "ok    " : "FAILED";
  console.log(`${verdict} ${name.padEnd(8)} ${seconds.padStart(6)} s`);
  if (output && (code !== 0 || TELLING.has(name))) console.log(output);
  return code;
}

async function runSteps(steps: readonly Step[]): Promise<number> {
  for (const step of steps) {
    const code = await runStep(step);
    if (code !== 0) return code;
  }
  return 0;
}

/**
 * Checks of the text come first. The first failure ends the run.
 *
 * @param args `--tested=DIR` takes the coverage of `deno task test --long --doc --coverage=DIR` instead of running the
 * tests again. `--mongoose=VERSION` takes that version of Mongoose.
 */
export async function runOk(args: string[]): Promise<number> {
  const tested = args.find((arg) => arg.startsWith("--tested="))
    ?.slice("--tested=".length);
  const folder = tested ??
    await Deno.makeTempDir({ prefix: "mongrove-coverage-" });
  try {
    const version = args.filter((arg) => arg.startsWith("--mongoose="));
    for (const groups of listSteps({ folder, isTested: tested !== undefined, version })) {
      const codes = await Promise.all(groups.map(runSteps));
      const code = codes.find((each) => each !== 0);
      if (code !== undefined) return code;
    }
    return 0;
  } finally {
    if (!tested) await Deno.remove(folder, { recursive: true });
  }
}

/** Prints the coverage of each file after the tests. */
export async function runCoverage(args: string[]): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "mongrove-coverage-" });
  try {
    const { code } = await runTests([...args, ...coverageIn(folder)]);
    console.log(reportCoverage(await readCoverage(folder), Infinity).table);
    return code;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

import { ensureAdminPage } from "./admin_task.ts";
import { runCheck } from "./check_task.ts";
import { readCoverage, reportCoverage } from "./coverage.ts";
import { publishDry } from "./pack/stage_package.ts";
import { checkRooms } from "./rooms.ts";
import { type DenoResult, existing, runDeno } from "./run_deno.ts";
import { runTests } from "./test_task.ts";

/** The lines of `src/` that tests have to cover, in per cent. */
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

/** Deno's own report would list our test code too. */
function coverageIn(folder: string): string[] {
  return [`--coverage=${folder}`, "--coverage-raw-data-only"];
}

async function test({ folder, version }: Gate): Promise<DenoResult> {
  // The types of code and snippets have been checked by the step before
  const args = ["--long", "--doc", "--no-check", ...coverageIn(folder), ...version];
  const result = await runTests(args, { capture: true });
  // Of a green run, the closing lines are enough: of the tests, and of the snippets
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

/** What is asked of `deno task ok`. */
interface Gate {
  /** Where the coverage goes. */
  readonly folder: string;
  /** Whether a test run has put it there already. */
  readonly isTested: boolean;
  /** The argument that chooses the version of Mongoose. */
  readonly version: readonly string[];
}

/** The modules that users import. */
const ENTRIES = [
  "mod.ts",
  ...["admin", "changes", "client", "mcp", "new", "openapi", "testing"].map((name) =>
    `src/${name}/mod.ts`
  ),
];

/** The steps of `deno task ok`: those of a group run side by side with those of the other groups. */
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

/** Steps whose output is worth a look when they pass, too. */
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

/** Runs steps until one fails. */
async function runSteps(steps: readonly Step[]): Promise<number> {
  for (const step of steps) {
    const code = await runStep(step);
    if (code !== 0) return code;
  }
  return 0;
}

/**
 * Runs all checks: first those of the text, then the tests. What fails ends it.
 *
 * @param args `--tested=DIR` takes the coverage of a run of
 * `deno task test --long --doc --coverage=DIR` instead of running the tests again. `--mongoose=VERSION`
 * takes that version of Mongoose.
 * @returns The exit code.
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

/**
 * Runs the tests, and prints how much of each file they cover.
 *
 * @param args Arguments of `deno test`.
 * @returns The exit code.
 */
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

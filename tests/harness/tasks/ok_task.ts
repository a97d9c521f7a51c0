import { runCheck } from "./check_task.ts";
import { readCoverage, reportCoverage } from "./coverage.ts";
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
  // Of a green run, the closing line is enough
  const summary = result.output.split("\n")
    .findLast((line) => line.includes(" passed"))?.trim() ?? "";
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
  ...["changes", "client", "mcp", "new", "openapi", "testing"].map((name) => `src/${name}/mod.ts`),
];

/** The steps of `deno task ok`. */
function listSteps(gate: Gate): Step[] {
  const steps: Step[] = [
    { name: "fmt", run: deno("fmt", "--check") },
    { name: "lint", run: lint },
    { name: "rooms", run: checkRooms },
    { name: "check", run: () => runCheck(gate.version, { capture: true }) },
    { name: "doc", run: deno("doc", "--lint", ...ENTRIES) },
    { name: "test", run: () => test(gate) },
    { name: "coverage", run: () => cover(gate.folder) },
    { name: "publish", run: deno("publish", "--dry-run", "--allow-dirty") },
  ];
  return steps.filter(({ name }) => !(gate.isTested && name === "test"));
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

/**
 * Runs all checks, in the order of their price; the first that fails ends it.
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
    for (const step of listSteps({ folder, isTested: tested !== undefined, version })) {
      const code = await runStep(step);
      if (code !== 0) return code;
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

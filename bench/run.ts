/**
 * The bench: Mongrove and its peers over a real MongoDB, held against the bare driver.
 *
 * @module
 */
import { reasonOf, say } from "../tests/harness/say.ts";
import { sumUp } from "./figures/figure.ts";
import type { Bench } from "./measure/bench.ts";
import { checkLengths } from "./measure/check_lengths.ts";
import { measureModels } from "./measure/measure_models.ts";
import { measureSuite } from "./measure/measure_suite.ts";
import { measureRounds } from "./measure/measure_rounds.ts";
import { benchLive } from "./live.ts";
import { type BenchOptions, HELP, readOptions } from "./options.ts";
import { pagesByDepth } from "./plan/depth.ts";
import { BY_CONNECTIONS, BY_DOCUMENTS, BY_FIELDS } from "./plan/growth.ts";
import { type Scenario, SCENARIOS } from "./plan/scenarios.ts";
import { BASELINE, OURS } from "./plan/servers.ts";
import { SUITES } from "./plan/suites.ts";
import { describeMachine } from "./report/machine.ts";
import { printGrowth, printScenarios, printSuite } from "./report/print.ts";
import type { Growth, Results, Run } from "./report/run.ts";
import { saveLast, writeDocs } from "./report/save.ts";
import { openBenchDatabase } from "./setup/bench_database.ts";
import { LoadClient } from "./setup/load_client.ts";
import { openWorkspace } from "./setup/workspace.ts";
import { benchTracing } from "./tracing.ts";

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return console.log(HELP);
  if (args[0] === "live") return await benchLive();
  if (args[0] === "tracing") return benchTracing();
  const options = readOptions(args);
  const results = await measure(options, args);
  if (results.scenarios) printScenarios(results.scenarios);
  if (results.groups) printSuite(results.groups);
  if (results.hooks) printSuite(results.hooks);
  if (results.writes) printSuite(results.writes);
  if (results.growth) printGrowth(results.growth);
  await saveLast(results);
  if (options.write) await writeDocs(results);
  requireAll(options, results);
}

/** Peers may be missing; without Mongrove, or the baseline of what is held against it, a run has failed. */
function requireAll(
  { servers, suite }: BenchOptions,
  { scenarios, groups, hooks, writes, growth }: Results,
): void {
  if (growth && growth.documents.length === 0) return;
  const run = scenarios ?? groups ?? hooks ?? writes;
  const figures = run?.figures ?? growth?.documents ?? [];
  const missing = servers.find(({ id, kind }) =>
    (kind.name === OURS || kind.name === BASELINE && suite === undefined) &&
    !figures.some(({ server }) => server === id)
  );
  if (missing !== undefined) throw new Error(`${missing.id} could not be measured: see the notes`);
}

async function measure(options: BenchOptions, args: readonly string[]): Promise<Results> {
  const { effort, only } = options;
  const suite = options.suite && SUITES[options.suite];
  const interrupted = listenForInterrupt();
  await using workspace = await openWorkspace(options.servers);
  await using database = await openBenchDatabase(effort.largest, {
    transactions: suite?.transactions,
    grows: options.growth,
  });
  await using load = new LoadClient(workspace.programs.node, workspace.load);
  const bench: Bench = {
    workspace,
    database,
    load,
    effort,
    notes: [...workspace.notes],
    interrupted,
  };
  const run = (): Run => ({
    date: new Date().toISOString().slice(0, 10),
    command: ["deno task bench", ...args].join(" "),
    partial: options.partial,
    rounds: effort.rounds,
    machine: describeMachine(),
    versions: { ...workspace.versions, MongoDB: database.version },
    notes: bench.notes,
  });
  const isDue = ({ name }: Scenario) => only.length === 0 || only.includes(name);
  if (options.suite && suite) {
    const figures = await measureSuite(bench, suite.scenarios.filter(isDue));
    return { [options.suite]: { ...run(), figures } };
  }
  if (!options.growth) {
    const scenarios = SCENARIOS.filter(isDue);
    const figures = sumUp(await measureRounds(bench, scenarios));
    bench.notes.push(...checkLengths(figures));
    return { scenarios: { ...run(), figures } };
  }
  const growth = await measureGrowth(bench, only);
  bench.notes.push(...checkLengths(growth.fields ?? []));
  return { growth: { ...run(), ...growth } };
}

async function measureGrowth(bench: Bench, only: readonly string[]): Promise<Growth> {
  const isDue = (part: string) => only.length === 0 || only.includes(part);
  const measureDue = async (part: string, scenarios: readonly Scenario[]) =>
    isDue(part) ? sumUp(await measureRounds(bench, scenarios)) : [];
  return {
    documents: await measureDue("documents", BY_DOCUMENTS),
    fields: await measureDue("fields", BY_FIELDS),
    connections: await measureDue("connections", BY_CONNECTIONS),
    depth: await measureDue("depth", pagesByDepth(bench.effort.largest)),
    models: isDue("models") ? await measureModels(bench) : [],
  };
}

/** A first signal stops what was started and drops the database; a second one ends the process. */
function listenForInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      if (controller.signal.aborted) Deno.exit(130);
      controller.abort(new Error("Interrupted"));
    });
  }
  return controller.signal;
}

if (Deno.build.os !== "linux") {
  console.error("Cannot run the bench: it reads /proc, which only Linux has");
  Deno.exit(1);
}
try {
  await main(Deno.args);
  Deno.exit(0);
} catch (error) {
  say(reasonOf(error));
  Deno.exit(1);
}

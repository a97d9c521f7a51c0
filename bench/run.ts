/** The bench: compares Mongrove and its peers, over a real MongoDB, with the bare driver. @module */
import os from "node:os";
import { parseArgs } from "node:util";
import { reasonOf, say } from "../tests/harness/say.ts";
import { openBenchDatabase } from "./database.ts";
import { measureFiles } from "./files.ts";
import { benchLarge } from "./large.ts";
import { benchLive } from "./live.ts";
import { measureModels, measureScenarios } from "./measure.ts";
import { print, type Results, writeDocs } from "./report.ts";
import { type Effort, FULL, GROWTH, GROWTH_PARTS, LARGE, LONG, QUICK } from "./scenarios.ts";
import { type Scenario, SCENARIOS, type SuiteName, SUITES } from "./scenarios.ts";
import { BASELINE, chooseServers, HYDRATED, OURS } from "./servers.ts";
import { benchTracing } from "./tracing.ts";
import { openWorkspace } from "./programs.ts";

const HELP =
  `Usage: deno task bench [groups | hooks | options | writes | files | large | live | tracing]
                       [<scenario>] [options]

  groups                groups of a list beside the pipeline by hand, instead of the scenarios
  hooks                 requests with a hook beside Express by hand, instead of the scenarios
  options               classes with stamps, history, trash or a tenant, on a replica set, instead
                        of the scenarios
  writes                writes beside Express by hand, on a replica set, instead of the scenarios
  files                 files beside streams of the driver by hand; takes --quick and --write
  large [<part>…]       entities (ten million), tenants (a thousand, twenty models), subscribers
                        (ten thousand, four processes)
  live                  what live lists cost, on a replica set; takes no options
  tracing               what the tracing channels cost without subscribers; takes no options

  <scenario>            ${SCENARIOS.map(({ name }) => name).join(", ")},
                        or those of a suite or of --growth; with --peer, a cell of the
                        tables in about a minute
  --peer=<name>         Mongrove beside one server, such as remult or deno/express_lean
  --rounds=<n>          how often each server meets each scenario; 5 unless given
  --servers=<names>     such as mongrove,node/express_lean; the baseline is always among them
  --growth              ${GROWTH_PARTS.join(", ")}, instead of the scenarios
  --quick               less than a minute, to see that everything works
  --write               write docs/benchmarks.md, its charts and docs/benchmarks.json`;

/**
 * Reads the command line.
 *
 * @throws {TypeError} If an argument is unknown or makes no sense.
 */
export function readOptions(args: readonly string[]) {
  const flag = { type: "boolean", default: false } as const;
  const text = { type: "string", default: "" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { growth: flag, quick: flag, write: flag, peer: text, rounds: text, servers: text },
  });
  const { growth, quick, write } = values;
  const isSuite = (name: string): name is SuiteName => Object.hasOwn(SUITES, name);
  const suite = positionals.find(isSuite);
  const scenarios: readonly Scenario[] = suite ? SUITES[suite].scenarios : SCENARIOS;
  const only = positionals.filter((name) => !isSuite(name));
  const known = growth ? GROWTH_PARTS : scenarios.map(({ name }) => name);
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new TypeError(`Cannot measure "${unknown}": see --help`);
  const usual = quick ? QUICK : growth ? LARGE : suite ? LONG : FULL;
  const rounds = values.rounds === "" ? usual.rounds : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new TypeError(`Cannot run "${values.rounds}" rounds: a whole number is needed`);
  }
  const servers = values.servers.split(",").filter((name) => name !== "");
  // Mongrove and its peer run on the same runtime
  const [peer = "", runtime = "node"] = values.peer.split("/").reverse();
  if (peer !== "") servers.push(`${runtime}/${OURS}`, `${runtime}/${peer}`);
  const isPart = only.length + servers.length > 0;
  if (servers.length === 0) {
    servers.push(...growth ? [OURS, HYDRATED] : suite ? SUITES[suite].servers : []);
  }
  const partial = quick
    ? "a quick run on a tenth of the documents, whose figures mean nothing"
    : isPart
    ? "a part of all servers and scenarios"
    : "";
  const effort: Effort = { ...usual, rounds };
  return {
    effort,
    growth,
    only,
    partial,
    scenarios,
    servers: chooseServers(servers),
    suite,
    write,
  };
}

type Options = ReturnType<typeof readOptions>;

function circumstances(args: readonly string[]) {
  const [{ model = "" } = {}, ...others] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GB`;
  const system = `${os.type()} ${os.release().split("-")[0]}`;
  return {
    date: new Date().toISOString().slice(0, 10),
    command: ["deno task bench", ...args].join(" "),
    machine: `${others.length + 1} × ${model.trim()}, ${memory}, ${system}`,
  };
}

async function measure(options: Options, args: readonly string[]): Promise<Results> {
  const { effort, growth, only, partial, scenarios, servers, suite } = options;
  const interrupt = new AbortController();
  // Ctrl-C ends the servers. The run then drops the database.
  Deno.addSignalListener("SIGINT", () => interrupt.abort(new Error("Interrupted")));
  await using workspace = await openWorkspace(servers);
  const { transactions = false } = suite ? SUITES[suite] : {};
  await using database = await openBenchDatabase(effort.largest, { transactions, growth });
  const notes = [...workspace.notes];
  const bench = { workspace, database, effort, notes, interrupted: interrupt.signal };
  const versions = { ...workspace.versions, MongoDB: database.version };
  const run = { ...circumstances(args), partial, rounds: effort.rounds, versions, notes };
  const isDue = (name: string) => only.length === 0 || only.includes(name);
  if (!growth) {
    const figures = await measureScenarios(bench, scenarios.filter(({ name }) => isDue(name)));
    return { [suite ?? "scenarios"]: { ...run, figures } };
  }
  const measurePart = (part: keyof typeof GROWTH) =>
    measureScenarios(bench, isDue(part) ? GROWTH[part](effort.largest) : []);
  return {
    growth: {
      ...run,
      documents: await measurePart("documents"),
      fields: await measurePart("fields"),
      connections: await measurePart("connections"),
      depth: await measurePart("depth"),
      models: isDue("models") ? await measureModels(bench) : [],
    },
  };
}

/** Peers may be missing. Without Mongrove, or the baseline of scenarios, a run has failed. */
function requireOurs({ servers, suite }: Options, { growth, ...runs }: Results): void {
  const figures = growth ? growth.documents : runs[suite ?? "scenarios"]?.figures ?? [];
  const missing = servers.find(({ id, kind }) =>
    (kind.name === OURS || kind.name === BASELINE && suite === undefined) &&
    !figures.some(({ server }) => server === id)
  );
  if (growth?.documents.length === 0 || missing === undefined) return;
  throw new Error(`${missing.id} could not be measured: see the notes`);
}

async function main(args: readonly string[]): Promise<void> {
  if (Deno.build.os !== "linux") throw new Error("Cannot run the bench: it reads Linux's /proc");
  if (args.includes("--help")) return console.log(HELP);
  if (args[0] === "live") return await benchLive();
  if (args[0] === "large") return await benchLarge(args.slice(1));
  if (args[0] === "tracing") return benchTracing();
  const isFiles = args[0] === "files";
  const options = readOptions(isFiles ? args.slice(1) : args);
  const { effort, partial } = options;
  const results = isFiles
    ? { files: { ...circumstances(args), partial, ...await measureFiles(effort) } }
    : await measure(options, args);
  print(results);
  if (options.write) await writeDocs(results);
  if (!isFiles) requireOurs(options, results);
}

if (import.meta.main) {
  const reason = await main(Deno.args).catch(reasonOf);
  if (reason !== undefined) say(reason);
  Deno.exit(reason === undefined ? 0 : 1);
}

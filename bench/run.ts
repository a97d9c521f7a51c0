/** The bench: compares Mongrove and its peers, over a real MongoDB, with the bare driver. @module */
import os from "node:os";
import { parseArgs } from "node:util";
import { reasonOf, say } from "../tests/harness/say.ts";
import { openDatabase, seed } from "./database.ts";
import { measureFiles } from "./files.ts";
import { benchLarge } from "./large.ts";
import { benchLive } from "./live.ts";
import { measureModels, measureScenarios } from "./measure.ts";
import { openWorkspace } from "./programs.ts";
import { print, type Results, writeDocs } from "./report.ts";
import { GROWTH_PARTS, growthOf, type GrowthPart, QUICK, SCENARIOS } from "./scenarios.ts";
import { type SuiteName, SUITES } from "./scenarios.ts";
import { chooseServers, OURS } from "./servers.ts";
import { benchTracing } from "./tracing.ts";

const HELP = `Usage: deno task bench [<suite>] [<scenario>…] [options]

  Without a suite, all servers are measured in these scenarios, or in some of them:
  ${SCENARIOS.map(({ name }) => name).join(" ")}

  groups       groups of a list, beside the pipeline by hand
  hooks        requests with a hook, beside Express by hand
  options      classes with stamps, history, trash or a tenant, on a replica set
  keys         requests with an API key, beside passport with a hashed token by hand
  writes       writes beside Express by hand, on a replica set
  files        files beside streams of the driver by hand
  live         live lists, on a replica set; takes --quick
  large        entities (ten million), tenants (a thousand, twenty models), subscribers (ten
               thousand, four processes), or the named ones; takes --quick
  tracing      the tracing channels without subscribers; takes no options

  --peer=<name>        Mongrove beside one server, such as remult or deno/express_lean; with a
                       scenario, a cell of the tables in about a minute
  --rounds=<n>         how often each server meets each scenario
  --servers=<names>    such as mongrove,node/express_lean; the baseline is always among them
  --growth             ${GROWTH_PARTS.join(", ")}, instead of the scenarios
  --quick              less than a minute, to see that everything works
  --write              write docs/benchmarks.json, docs/*.svg and bench/RESULTS.md`;

/** Reads the command line. Throws a TypeError if an argument is unknown or makes no sense. */
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
  const suite = growth ? "growth" : positionals.find(isSuite) ?? "scenarios";
  const only = positionals.filter((name) => !isSuite(name));
  const known = growth ? GROWTH_PARTS : SUITES[suite].scenarios.map(({ name }) => name);
  const unknown = only.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined) throw new TypeError(`Cannot measure "${unknown}": see --help`);
  const usual = quick ? QUICK : SUITES[suite].effort;
  const rounds = values.rounds === "" ? usual.rounds : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new TypeError(`Cannot run "${values.rounds}" rounds: a whole number is needed`);
  }
  const named = values.servers.split(",").filter((name) => name !== "");
  // Mongrove and its peer run on the same runtime
  const [peer = "", runtime = "node"] = values.peer.split("/").reverse();
  if (peer !== "") named.push(`${runtime}/${OURS}`, `${runtime}/${peer}`);
  let partial = only.length + named.length > 0 ? "a part of all servers and scenarios" : "";
  if (quick) partial = "a quick run on a tenth of the documents, whose figures mean nothing";
  const servers = chooseServers(named.length > 0 ? named : SUITES[suite].servers);
  return { effort: { ...usual, rounds }, only, partial, servers, suite, write };
}

async function measure(
  { effort, only, partial, servers, suite }: ReturnType<typeof readOptions>,
  args: readonly string[],
): Promise<Results> {
  const workspace = await openWorkspace(servers);
  await using database = await openDatabase("isReplicaSet" in SUITES[suite]);
  const bench = { workspace, database, effort };
  const [{ model = "" } = {}, ...others] = os.cpus();
  const memory = `${Math.round(os.totalmem() / 2 ** 30)} GB`;
  const system = `${os.type()} ${os.release().split("-")[0]}`;
  const run = {
    date: new Date().toISOString().slice(0, 10),
    command: ["deno task bench", ...args].join(" "),
    machine: `${others.length + 1} × ${model.trim()}, ${memory}, ${system}`,
    partial,
    rounds: effort.rounds,
    versions: { ...workspace.versions, MongoDB: database.version },
    notes: workspace.notes,
  };
  const isDue = (name: string) => only.length === 0 || only.includes(name);
  if (suite === "files") return { files: { ...run, figures: await measureFiles(bench) } };
  await seed(database.connection, effort.largest, suite === "growth");
  if (suite !== "growth") {
    const scenarios = SUITES[suite].scenarios.filter(({ name }) => isDue(name));
    return { [suite]: { ...run, figures: await measureScenarios(bench, scenarios) } };
  }
  const growth = growthOf(effort.largest);
  const measurePart = (part: GrowthPart) =>
    measureScenarios(bench, isDue(part) ? growth[part] : []);
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

async function main(args: readonly string[]): Promise<void> {
  if (Deno.build.os !== "linux") throw new Error("Cannot run the bench: it reads Linux's /proc");
  if (args.includes("--help")) return console.log(HELP);
  const isQuick = args.includes("--quick");
  if (args[0] === "live") return await benchLive(isQuick);
  if (args[0] === "large") return await benchLarge(args.slice(1), isQuick);
  if (args[0] === "tracing") return benchTracing();
  const options = readOptions(args);
  const results = await measure(options, args);
  print(results);
  if (options.write) await writeDocs(results);
}

if (import.meta.main) {
  const reason = await main(Deno.args).catch(reasonOf);
  if (reason !== undefined) say(reason);
  Deno.exit(reason === undefined ? Deno.exitCode : 1);
}

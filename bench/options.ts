import { type Effort, FULL, GROWTH, QUICK } from "./plan/effort.ts";
import { GROWING, GROWTH_PARTS } from "./plan/growth.ts";
import { SCENARIOS } from "./plan/scenarios.ts";
import { chooseServers, OURS, type Server } from "./plan/servers.ts";
import { isSuiteName, type SuiteName, SUITES } from "./plan/suites.ts";

/** What the command line asks for. */
export interface BenchOptions {
  /** How long and how often to measure. */
  readonly effort: Effort;
  /** The names of the scenarios, or of the parts of `--growth`; none for all of them. */
  readonly only: readonly string[];
  /** The servers. */
  readonly servers: readonly Server[];
  /** Whether to measure how cost grows, instead of the scenarios. */
  readonly growth: boolean;
  /** What to measure instead of the scenarios. */
  readonly suite?: SuiteName | undefined;
  /** Whether to write the page and the chart in `docs/`. */
  readonly write: boolean;
  /** What the command line leaves out, in words; the empty string for nothing. */
  readonly partial: string;
}

/** What `--help` shows. */
export const HELP =
  `Usage: deno task bench [groups | hooks | writes | live | tracing] [<scenario>] [options]

  groups                groups of a list beside the pipeline by hand, instead of the scenarios
  hooks                 requests with a hook beside Express by hand, instead of the scenarios
  writes                writes beside Express by hand, on a replica set, instead of the scenarios
  live                  what live lists cost, on a replica set; takes no options
  tracing               what the tracing channels cost without subscribers; takes no options

  <scenario>            one of the scenarios; with --peer, a cell of the tables in about a minute
  --peer=<name>         Mongrove beside one server, such as remult or deno/express_lean
  --rounds=<n>          how often each server meets each scenario; 5 unless given
  --only=<names>        ${SCENARIOS.map(({ name }) => name).join(", ")}
  --servers=<names>     such as mongrove,node/express_lean; the baseline is always among them
  --growth              ${GROWTH_PARTS.join(", ")}, instead of the scenarios
  --quick               less than a minute, to see that everything works
  --write               write docs/benchmarks.md, its charts and docs/benchmarks.json`;

const FLAGS = ["growth", "quick", "write"];
const VALUES = ["rounds", "only", "servers", "peer"];

/**
 * Reads the command line.
 *
 * @param args The arguments.
 * @returns The options.
 * @throws {TypeError} If one of them is unknown or has no sense.
 */
export function readOptions(args: readonly string[]): BenchOptions {
  const given = new Map(args.map(readArgument));
  const asked = [...given.keys()].filter((name) => given.get(name) === undefined);
  const isQuick = given.has("quick");
  const suiteName = [...given.keys()].find(isSuiteName);
  const suite = suiteName && SUITES[suiteName];
  const isGrowth = given.has("growth");
  const base = isQuick ? QUICK : isGrowth ? GROWTH : suite?.effort ?? FULL;
  const only = [...listOf(given.get("only")), ...asked];
  const scenarios = suite?.scenarios ?? SCENARIOS;
  const names = isGrowth ? GROWTH_PARTS : scenarios.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`Cannot measure "${unknown}": see --help`);
  const rounds = Number(given.get("rounds") ?? base.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new TypeError(`Cannot run "${given.get("rounds")}" rounds: a whole number is needed`);
  }
  const servers = [...listOf(given.get("servers")), ...besides(given.get("peer"))];
  const isPart = only.length + servers.length > 0;
  return {
    effort: { ...base, rounds },
    only,
    servers: chooseServers(
      servers.length > 0 ? servers : isGrowth ? GROWING : suite?.servers ?? [],
    ),
    growth: isGrowth,
    suite: suiteName,
    write: given.has("write"),
    partial: isQuick
      ? "a quick run on a tenth of the documents, whose figures mean nothing"
      : isPart
      ? "a part of all servers and scenarios"
      : "",
  };
}

/** Gives the option that an argument sets; a name without a value is that of a scenario. */
function readArgument(argument: string): [string, string | undefined] {
  if (isSuiteName(argument)) return [argument, ""];
  if (/^[a-z]/.test(argument)) return [argument, undefined];
  const [, name = "", , value] = /^--([a-z]+)(=(.*))?$/.exec(argument) ?? [];
  const isKnown = value === undefined ? FLAGS.includes(name) : VALUES.includes(name);
  if (!isKnown) throw new TypeError(`Cannot read "${argument}": see --help`);
  return [name, value ?? ""];
}

/** Names a peer and Mongrove, on the same runtime. */
function besides(peer: string | undefined): string[] {
  if (peer === undefined) return [];
  const [, runtime = "node", name] = /^(?:(deno|node)\/)?(.*)$/.exec(peer) ?? [];
  return [`${runtime}/${OURS}`, `${runtime}/${name}`];
}

function listOf(value: string | undefined): string[] {
  return (value ?? "").split(",").filter((name) => name !== "");
}

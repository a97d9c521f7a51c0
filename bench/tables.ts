/** The tables of figures, in Markdown. @module */
import type { Figure, ModelFigure } from "./figures.ts";
import type { FilesFigure } from "./files.ts";
import { type Scenario, SCENARIOS, SUITES } from "./scenarios.ts";
import { BASELINE, DRIVER, KINDS, OURS, type Runtime, serverTitle } from "./servers.ts";
import type { Sizes } from "./sizes.ts";

const RUNTIMES: readonly Runtime[] = ["deno", "node"];

/** Figures of Mongrove, each with its most on Deno and on Node, that were set before the work began. */
const GOALS = [
  ["list-1000", "ratio", 0.20, 0.25],
  ["list-20", "ratio", 0.55, 0.9],
  ["one-16", "ratio", 0.65, 1.1],
  ["list-100000", "ratio", 0.18, 0.18],
  ["list-100000", "firstByteMs", 40, 40],
  ["list-100000", "peakMb", 180, 180],
  ["update", "ratio", 1.5, 2.0],
  ["create", "ratio", 1.7, 2.3],
  ["hook-lean", "ratio", 1.1, 1.1],
  ["page-20", "toLean", 0.8, 0.9],
  ["populated-50", "toLean", 0.5, 0.5],
] as const;

const GOAL_TITLES = {
  ratio: "ratio",
  toLean: "ratio to Express + lean Mongoose",
  firstByteMs: "first byte, ms",
  peakMb: "peak memory, MB",
};

/** Returns a table in Markdown. The first column names the rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(3, ...all.map((row) => row[at]?.length ?? 0)));
  const lines = all.map((row) =>
    row.map((cell, at) => at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))
  );
  const rule = widths.map((width, at) =>
    at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`
  );
  return [...lines.slice(0, 1), rule, ...lines.slice(1)].map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
}

/** Formats a figure with three significant digits, or a dash for no figure. */
function show(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  const fraction = Math.max(0, 2 - Math.floor(Math.log10(Math.max(value, 1e-9))));
  return value.toFixed(Math.min(fraction, 3));
}

/** Formats a ratio. */
export function showRatio(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(2);
}

function format(key: string): (value: number | undefined) => string {
  return key === "ratio" || key === "toLean" ? showRatio : show;
}

/** Returns the ids of the servers of figures, in the order of tables. */
export function serversOf(figures: readonly Figure[]): string[] {
  const rank = (id: string) => {
    const [runtime, name] = id.split("/");
    return (runtime === "deno" ? 100 : 0) + KINDS.findIndex((kind) => kind.name === name);
  };
  return [...new Set(figures.map(({ server }) => server))].sort((a, b) => rank(a) - rank(b));
}

/** Returns the scenarios of figures, in the order of tables. */
export function scenariosOf(
  figures: readonly Figure[],
  all: readonly Scenario[] = SCENARIOS,
): readonly Scenario[] {
  return all.filter(({ name }) => figures.some(({ scenario }) => scenario === name));
}

/** Returns a function that finds the figure of a server in a scenario. */
export function finder(figures: readonly Figure[]) {
  return (server: string, scenario: string): Partial<Figure> =>
    figures.find((each) => each.server === server && each.scenario === scenario) ?? {};
}

/** Returns all ratios: a row for each server, a column for each scenario. */
export function ratioTable(figures: readonly Figure[]): string {
  const names = scenariosOf(figures).map(({ name }) => name);
  const find = finder(figures);
  const rows = serversOf(figures).map((server) => [
    serverTitle(server),
    ...names.map((name) => showRatio(find(server, name).ratio)),
  ]);
  return table(["ratio", ...names], rows);
}

/** Returns the goals, Mongrove's figures, and the best figures of other servers than the baseline. */
export function goalTable(figures: readonly Figure[]): string {
  const rows = GOALS.flatMap(([name, key, ...most]) => {
    const own = figures.filter(({ scenario }) => scenario === name);
    const cells = RUNTIMES.flatMap((runtime, at) => {
      const goal = most[at] ?? NaN;
      const value = finder(own)(`${runtime}/${OURS}`, name)[key] ?? NaN;
      const best = own.filter(({ server }) =>
        server.startsWith(runtime) && !server.endsWith(OURS) && !server.endsWith(BASELINE)
      ).flatMap((each) => each[key] ?? []);
      const reached = Number.isNaN(value) ? "–" : value <= goal ? "yes" : "no";
      const [shown, most_, other] = [value, goal, Math.min(...best)].map(format(key));
      return [shown, most_, reached, other].map(String);
    });
    return scenariosOf(own).map(({ title }) => [`${title}: ${GOAL_TITLES[key]}`, ...cells]);
  });
  const columns = ["Deno", "Node"].flatMap((name) => [name, "at most", "reached", "best other"]);
  return table(["goal", ...columns], rows);
}

/** Formats the median of ratios, and the bounds of the middle half of the rounds. */
function showSpread(spread: Figure["toHand"]): string {
  if (spread === undefined) return showRatio(undefined);
  const { median, low, high } = spread;
  return `${showRatio(median)} (${showRatio(low)}–${showRatio(high)})`;
}

/** Returns the scenarios of a suite beside the same by hand. */
export function suiteTable(figures: readonly Figure[]): string {
  const find = finder(figures);
  const hasOptions = figures.some(({ toPlain }) => toPlain);
  const all = Object.values(SUITES).flatMap(({ scenarios }) => scenarios);
  const rows = scenariosOf(figures, all).map(({ name, title }) => {
    const cells = RUNTIMES.flatMap((runtime) => {
      const { toHand, toPlain } = find(`${runtime}/${OURS}`, name);
      return [showSpread(toHand), ...hasOptions ? [showSpread(toPlain)] : []];
    });
    return [title, ...cells];
  });
  const plain = hasOptions ? ["to no option"] : [];
  return table(["to by hand", "Deno", ...plain, "Node", ...plain], rows);
}

/** Returns the steps of the growth of a figure, and the ways to the same step. A scenario is named `step` or `way step`. */
export function stepsOf(figures: readonly Figure[]): { steps: string[]; ways: string[] } {
  const names = figures.map(({ scenario }) => scenario.split(" ").reverse());
  const steps = [...new Set(names.map(([step = ""]) => step))];
  return { steps, ways: [...new Set(names.map(([, way = ""]) => way))] };
}

export type GrowthKey = "ratio" | "cpuMs" | "databaseMs" | "firstByteMs" | "perSecond";

/** Returns the growth of a figure: a row for each server and way, a column for each step. */
export function growthTable(figures: readonly Figure[], title: string, key: GrowthKey): string {
  const { steps, ways } = stepsOf(figures);
  const find = finder(figures);
  const rows = serversOf(figures).flatMap((server) =>
    ways.map((way) => [
      (way && `${way}: `) + serverTitle(server),
      ...steps.map((step) => format(key)(find(server, `${way} ${step}`.trim())[key])),
    ])
  );
  return table([title, ...steps.map((step) => Number(step).toLocaleString("en-US"))], rows);
}

/** Returns the costs of numbers of models. */
export function modelTable(figures: readonly ModelFigure[]): string {
  const rows = figures.map(({ models, server, startMs, startCpuMs, startMb, cpuMs }) => [
    `${models}: ${serverTitle(server)}`,
    ...[startMs, startCpuMs, startMb, cpuMs].map(show),
  ]);
  return table(["models", "start ms", "start CPU ms", "start MB", "one: CPU ms/request"], rows);
}

/** Returns the throughput of files beside the same by hand, and the peak memory: a row for each scenario. */
export function filesTable(figures: readonly FilesFigure[]): string {
  const scenarios = [...new Set(figures.map(({ scenario }) => scenario))];
  const rows = scenarios.map((scenario) => [
    scenario,
    ...RUNTIMES.flatMap((runtime) => {
      const [own, hand] = [OURS, DRIVER].map((name) =>
        figures.find((each) => each.scenario === scenario && each.server === `${runtime}/${name}`)
      );
      const cells = [own?.mbPerSecond, hand?.mbPerSecond, own?.peakMb, hand?.peakMb].map(show);
      return [showRatio(Number(own?.mbPerSecond) / Number(hand?.mbPerSecond)), ...cells];
    }),
  ]);
  const columns = (name: string) => [name, "MB/s", "by hand", "peak MB", "by hand"];
  return table(["to by hand", ...columns("Deno"), ...columns("Node")], rows);
}

/** Returns the bounds of sizes. */
export function sizeTable(sizes: readonly Sizes[]): string {
  const rows = sizes.map(({ why, published, client, packages, instantiations }) => {
    const figures = [published, client, packages, instantiations];
    return [why, ...figures.map((figure) => figure?.toLocaleString("en-US") ?? "–")];
  });
  return table(["grown by", "bytes published", "client", "packages", "instantiations"], rows);
}

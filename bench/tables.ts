/** The tables of figures, in Markdown. @module */
import type { Cell, Figure, Spread } from "./figures.ts";
import type { FilesFigure } from "./files.ts";
import type { ModelFigure } from "./measure.ts";
import { type Scenario, SCENARIOS, type SuiteName, SUITES } from "./scenarios.ts";
import { BASELINE, DRIVER, OURS, type Server, SERVERS } from "./servers.ts";

const RUNTIMES = ["deno", "node"] as const;

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

/** The words for the figures of goals, and the functions that format them. */
const GOAL_FIGURES = {
  ratio: ["ratio", showRatio],
  toLean: ["ratio to Express + lean Mongoose", showRatio],
  firstByteMs: ["first byte, ms", show],
  peakMb: ["peak memory, MB", show],
} as const;

/** Returns a table in Markdown. The first column names the rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(3, ...lines.map((row) => row[at]?.length ?? 0)));
  const [first = 0, ...others] = widths;
  const padded = lines.map(([name = "", ...cells]) => [
    name.padEnd(first),
    ...cells.map((cell, at) => cell.padStart(others[at] ?? 0)),
  ]);
  padded.splice(1, 0, ["-".repeat(first), ...others.map((width) => `${"-".repeat(width - 1)}:`)]);
  return padded.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Formats a figure with three significant digits, or a dash for no figure. */
function show(value: number = NaN): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  const fraction = Math.max(0, 2 - Math.floor(Math.log10(Math.max(value, 1e-9))));
  return value.toFixed(Math.min(fraction, 3));
}

export function showRatio(value: number = NaN): string {
  return Number.isFinite(value) ? value.toFixed(2) : "–";
}

/** Returns the servers of figures, in the order of tables. */
export function serversOf(figures: readonly Cell[]): Server[] {
  return SERVERS.filter(({ id }) => figures.some(({ server }) => server === id));
}

/** Returns the scenarios of figures, in the order of tables. */
export function scenariosOf(figures: readonly Cell[], all = SCENARIOS): readonly Scenario[] {
  return all.filter(({ name }) => figures.some(({ scenario }) => scenario === name));
}

/** Returns a function that finds the figure of a server in a scenario. */
export function finder<T extends Cell>(figures: readonly T[]) {
  return (server: string, scenario: string): Partial<T> =>
    figures.find((each) => each.server === server && each.scenario === scenario) ?? {};
}

/** Returns all ratios: a row for each server, a column for each scenario. */
export function ratioTable(figures: readonly Figure[]): string {
  const find = finder(figures);
  const names = scenariosOf(figures).map(({ name }) => name);
  const rows = serversOf(figures).map(({ id, title }) => {
    return [title, ...names.map((name) => showRatio(find(id, name).ratio))];
  });
  return table(["ratio", ...names], rows);
}

/** Returns the goals, Mongrove's figures, and the best figures of other servers than the baseline. */
export function goalTable(figures: readonly Figure[]): string {
  const rows = GOALS.flatMap(([name, key, ...most]) => {
    const [words, format] = GOAL_FIGURES[key];
    const own = figures.filter(({ scenario }) => scenario === name);
    const cells = RUNTIMES.flatMap((runtime, at) => {
      const goal = most[at] ?? NaN;
      const value = finder(own)(`${runtime}/${OURS}`, name)[key] ?? NaN;
      const best = own.filter(({ server }) =>
        server.startsWith(runtime) && !server.endsWith(OURS) && !server.endsWith(BASELINE)
      ).flatMap((each) => each[key] ?? []);
      const reached = Number.isNaN(value) ? "–" : value <= goal ? "yes" : "no";
      return [format(value), format(goal), reached, format(Math.min(...best))];
    });
    return scenariosOf(own).map(({ title }) => [`${title}: ${words}`, ...cells]);
  });
  const columns = ["Deno", "Node"].flatMap((name) => [name, "at most", "reached", "best other"]);
  return table(["goal", ...columns], rows);
}

function showSpread(spread: Spread | undefined): string {
  if (spread === undefined) return showRatio(undefined);
  const [median, low, high] = [spread.median, spread.low, spread.high].map(showRatio);
  return `${median} (${low}–${high})`;
}

export function suiteTable(suite: SuiteName, figures: readonly Figure[]): string {
  const find = finder(figures);
  const hasOptions = figures.some(({ toPlain }) => toPlain);
  const rows = scenariosOf(figures, SUITES[suite].scenarios).map(({ name, title }) => {
    const cells = RUNTIMES.flatMap((runtime) => {
      const { toHand, toPlain } = find(`${runtime}/${OURS}`, name);
      return [toHand, ...hasOptions ? [toPlain] : []].map(showSpread);
    });
    return [title, ...cells];
  });
  const plain = hasOptions ? ["to no option"] : [];
  return table(["to by hand", "Deno", ...plain, "Node", ...plain], rows);
}

/** Returns the steps of the growth of a figure, and the ways to the same step. A scenario is named `step` or `way step`. */
export function stepsOf(figures: readonly Cell[]): { steps: string[]; ways: string[] } {
  const names = figures.map(({ scenario }) => scenario.split(" ").reverse());
  const steps = [...new Set(names.map(([step = ""]) => step))];
  return { steps, ways: [...new Set(names.map(([, way = ""]) => way))] };
}

/** Returns the growth of a figure: a row for each server and way, a column for each step. */
export function growthTable(figures: readonly Figure[], part: string): string {
  const { steps, ways } = stepsOf(figures);
  const find = finder(figures);
  // Pages by depth have no baseline
  const isDepth = part === "depth";
  const rows = serversOf(figures).flatMap(({ id, title }) =>
    ways.map((way) => {
      const cells = steps.map((step) => {
        const { cpuMs, ratio } = find(id, `${way} ${step}`.trim());
        return isDepth ? show(cpuMs) : showRatio(ratio);
      });
      return [(way && `${way}: `) + title, ...cells];
    })
  );
  const columns = steps.map((step) => Number(step).toLocaleString("en-US"));
  return table([`${isDepth ? "CPU ms" : "ratio"}, by ${part}`, ...columns], rows);
}

export function modelTable(figures: readonly ModelFigure[]): string {
  const rows = figures.map(({ models, server, startMs, startCpuMs, startMb, cpuMs }) => [
    `${models}: ${SERVERS.find(({ id }) => id === server)?.title}`,
    ...[startMs, startCpuMs, startMb, cpuMs].map(show),
  ]);
  return table(["models", "start ms", "start CPU ms", "start MB", "one: CPU ms/request"], rows);
}

/** Returns the throughput of files beside the same by hand, and the peak memory: a row for each scenario. */
export function filesTable(figures: readonly FilesFigure[]): string {
  const find = finder(figures);
  const rows = [...new Set(figures.map(({ scenario }) => scenario))].map((scenario) => {
    const cells = RUNTIMES.flatMap((runtime) => {
      const { mbPerSecond: own, peakMb } = find(`${runtime}/${OURS}`, scenario);
      const { mbPerSecond: hand, peakMb: handMb } = find(`${runtime}/${DRIVER}`, scenario);
      return [showRatio(Number(own) / Number(hand)), ...[own, hand, peakMb, handMb].map(show)];
    });
    return [scenario, ...cells];
  });
  const columns = ["MB/s", "by hand", "peak MB", "by hand"];
  return table(["to by hand", "Deno", ...columns, "Node", ...columns], rows);
}

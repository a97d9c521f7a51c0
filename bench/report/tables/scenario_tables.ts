import type { Figure } from "../../figures/figure.ts";
import { GOALS } from "../../plan/goals.ts";
import { SCENARIOS } from "../../plan/scenarios.ts";
import { KINDS } from "../../plan/servers.ts";
import { show, showRatio, type Table } from "./table.ts";

/** Names a server in tables, such as `Mongrove, Deno`. */
export function serverTitle(id: string): string {
  const [runtime, name] = id.split("/");
  const title = KINDS.find((kind) => kind.name === name)?.title ?? name;
  return `${title}, ${runtime === "deno" ? "Deno" : "Node"}`;
}

/** Gives the ids of the servers of figures, in their order. */
export function serversOf(figures: readonly Figure[]): string[] {
  return [...new Set(figures.map(({ server }) => server))].sort((a, b) => rank(a) - rank(b));
}

function rank(id: string): number {
  const [runtime, name] = id.split("/");
  return (runtime === "deno" ? 100 : 0) + KINDS.findIndex((kind) => kind.name === name);
}

/** Gives the scenarios that figures are about. */
export function scenariosOf(figures: readonly Figure[]): typeof SCENARIOS {
  return SCENARIOS.filter(({ name }) => figures.some(({ scenario }) => scenario === name));
}

/** Finds the figure of a server in a scenario. */
export function find(
  figures: readonly Figure[],
  server: string,
  scenario: string,
): Figure | undefined {
  return figures.find((figure) => figure.server === server && figure.scenario === scenario);
}

/** All ratios at a glance: a row for each server, a column for each scenario. */
export function ratioTable(figures: readonly Figure[]): Table {
  const scenarios = scenariosOf(figures);
  return {
    head: ["ratio", ...scenarios.map(({ name }) => name)],
    rows: serversOf(figures).map((server) => [
      serverTitle(server),
      ...scenarios.map(({ name }) => showRatio(find(figures, server, name)?.ratio)),
    ]),
  };
}

/** All figures of a scenario. */
export function scenarioTable(figures: readonly Figure[], scenario: string): Table {
  const own = figures.filter((figure) => figure.scenario === scenario);
  // Elsewhere, the peak is that of all that the process has been through
  const isFresh = SCENARIOS.find(({ name }) => name === scenario)?.fresh === true;
  const isToLean = GOALS.some((goal) => goal.scenario === scenario && goal.figure === "toLean");
  return {
    head: [
      "",
      "ratio",
      "of rounds",
      ...isToLean ? ["to lean Mongoose"] : [],
      "CPU ms/request",
      "requests/s",
      "first byte ms",
      "p99 ms",
      ...isFresh ? ["peak MB"] : [],
      "mongod ms/request",
    ],
    rows: serversOf(own).map((server) => {
      const figure = find(own, server, scenario);
      return [
        serverTitle(server),
        showRatio(figure?.ratio),
        `${showRatio(figure?.lowest)}–${showRatio(figure?.highest)}`,
        ...isToLean ? [showRatio(figure?.toLean)] : [],
        show(figure?.cpuMs),
        show(figure?.perSecond),
        show(figure?.firstByteMs),
        show(figure?.p99Ms),
        ...isFresh ? [show(figure?.peakMb)] : [],
        show(figure?.databaseMs),
      ];
    }),
  };
}

import type { Figure } from "../../figures/figure.ts";
import { type Figure as GoalFigure, GOALS } from "../../plan/goals.ts";
import { SCENARIOS } from "../../plan/scenarios.ts";
import { OURS, type Runtime } from "../../plan/servers.ts";
import { find } from "./scenario_tables.ts";
import { show, showRatio, type Table } from "./table.ts";

const NAMES: Readonly<Record<GoalFigure, string>> = {
  ratio: "ratio",
  toLean: "ratio to Express + lean Mongoose",
  firstByteMs: "first byte, ms",
  peakMb: "peak memory, MB",
};

const RATIOS: readonly GoalFigure[] = ["ratio", "toLean"];

const RUNTIMES: readonly Runtime[] = ["deno", "node"];

/** What was to be reached, what was, and the best that others do. */
export function goalTable(figures: readonly Figure[]): Table {
  return {
    head: [
      "goal",
      ...["Deno", "Node"].flatMap((name) => [name, "at most", "reached", "best other"]),
    ],
    rows: GOALS.filter((goal) => figures.some(({ scenario }) => scenario === goal.scenario)).map(
      ({ scenario, figure, most }) => {
        const title = SCENARIOS.find(({ name }) => name === scenario)?.title ?? scenario;
        const cells = RUNTIMES.flatMap((runtime) => {
          const value = find(figures, `${runtime}/${OURS}`, scenario)?.[figure];
          const format = RATIOS.includes(figure) ? showRatio : show;
          const others = bestOther(figures, runtime, scenario, figure);
          return [
            format(value),
            format(most[runtime]),
            judge(value, most[runtime]),
            format(others),
          ];
        });
        return [`${title}: ${NAMES[figure]}`, ...cells];
      },
    ),
  };
}

function judge(value: number | undefined, most: number): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  return value <= most ? "yes" : "no";
}

/** The best of the others that are more than the baseline. */
function bestOther(
  figures: readonly Figure[],
  runtime: Runtime,
  scenario: string,
  figure: GoalFigure,
): number | undefined {
  const values = figures.filter((each) => each.scenario === scenario)
    .filter(({ server }) => server.startsWith(`${runtime}/`))
    .filter(({ server }) => !server.endsWith(`/${OURS}`) && !server.endsWith("/bare"))
    .flatMap((each) => each[figure] ?? []);
  return values.length === 0 ? undefined : Math.min(...values);
}

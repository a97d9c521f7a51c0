import type { Figure, Interval } from "../../figures/figure.ts";
import { OURS, type Runtime } from "../../plan/servers.ts";
import { SUITES } from "../../plan/suites.ts";
import { find } from "./scenario_tables.ts";
import { show, showRatio, type Table } from "./table.ts";

const RUNTIMES: readonly Runtime[] = ["deno", "node"];

/** Each scenario of a suite beside the same by hand. */
export function suiteTable(figures: readonly Figure[]): Table {
  const measured = Object.values(SUITES).flatMap(({ scenarios }) => scenarios).filter(({ name }) =>
    figures.some(({ scenario }) => scenario === name)
  );
  return {
    head: [
      "to by hand",
      ...["Deno", "Node"].flatMap((name) => [name, "ms", "ms by hand", "mongod ms", "by hand"]),
    ],
    rows: measured.map(({ name, title, byHand = "" }) => [
      title,
      ...RUNTIMES.flatMap((runtime) => {
        const ours = find(figures, `${runtime}/${OURS}`, name);
        const hand = find(figures, `${runtime}/${byHand}`, name);
        const times = [ours?.cpuMs, hand?.cpuMs, ours?.databaseMs, hand?.databaseMs];
        return [showInterval(ours?.toHand), ...times.map((time) => show(time))];
      }),
    ]),
  };
}

function showInterval(interval: Interval | undefined): string {
  if (interval === undefined) return showRatio(undefined);
  const { median, low, high } = interval;
  return `${showRatio(median)} (${showRatio(low)}–${showRatio(high)})`;
}

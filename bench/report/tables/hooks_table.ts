import type { Figure, Interval } from "../../figures/figure.ts";
import { HOOK_SCENARIOS } from "../../plan/hooks.ts";
import { OURS, type Runtime } from "../../plan/servers.ts";
import { find } from "./scenario_tables.ts";
import { show, showRatio, type Table } from "./table.ts";

const RUNTIMES: readonly Runtime[] = ["deno", "node"];

/** Each request with a hook beside the same by hand. */
export function hooksTable(figures: readonly Figure[]): Table {
  const measured = HOOK_SCENARIOS.filter(({ name }) =>
    figures.some(({ scenario }) => scenario === name)
  );
  return {
    head: ["to by hand", ...["Deno", "Node"].flatMap((name) => [name, "ms", "ms by hand"])],
    rows: measured.map(({ name, title, byHand = "" }) => [
      title,
      ...RUNTIMES.flatMap((runtime) => {
        const ours = find(figures, `${runtime}/${OURS}`, name);
        const hand = find(figures, `${runtime}/${byHand}`, name);
        return [showInterval(ours?.toHand), show(ours?.cpuMs), show(hand?.cpuMs)];
      }),
    ]),
  };
}

function showInterval(interval: Interval | undefined): string {
  if (interval === undefined) return showRatio(undefined);
  const { median, low, high } = interval;
  return `${showRatio(median)} (${showRatio(low)}–${showRatio(high)})`;
}

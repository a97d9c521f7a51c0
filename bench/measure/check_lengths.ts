import type { Figure } from "../figures/figure.ts";
import { baselineOf } from "../figures/figure.ts";

/** The part by which bodies may differ: an `id` in place of an `_id`, a version more or less. */
const TOLERANCE = 0.03;

/**
 * Holds the length of what was answered while it was measured against that of the baseline.
 *
 * @param figures The figures of all servers.
 * @returns A note for each server whose answers were shorter or longer.
 */
export function checkLengths(figures: readonly Figure[]): string[] {
  return figures.flatMap(({ server, scenario, bytes }) => {
    const baseline = figures.find((figure) =>
      figure.scenario === scenario && figure.server === baselineOf(server)
    );
    if (baseline === undefined) return [];
    const isNear = Math.abs(bytes / baseline.bytes - 1) <= TOLERANCE;
    const lengths = `${Math.round(bytes)} bytes, not ${Math.round(baseline.bytes)}`;
    return isNear ? [] : [`the answers of ${server} in ${scenario} have ${lengths}`];
  });
}

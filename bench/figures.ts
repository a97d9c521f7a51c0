/** Samples of rounds, and their medians. @module */
import type { Scenario } from "./scenarios.ts";
import { BASELINE, besideOf, LEAN } from "./servers.ts";

/** A server in a scenario. */
export interface Cell {
  readonly scenario: string;
  readonly server: string;
}

const MEASURED = [
  ...["cpuMs", "databaseMs", "perSecond", "firstByteMs", "p99Ms", "peakMb", "bytes"] as const,
];

/** A server in a scenario in a round. Times are those of one request. */
export interface Sample extends Cell, Readonly<Record<typeof MEASURED[number], number>> {
  readonly round: number;
}

/** The medians of all rounds of a server in a scenario. */
export type Figure = ReturnType<typeof sumUp>[number];
export type Spread = ReturnType<typeof spreadOf>;

/** Returns the value below which this part of the values is, between two values where it falls between them. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

const median = (values: readonly number[]) => quantile(values, 0.5);

function groupsOf<T extends Cell>(samples: readonly T[]): Map<string, T[]> {
  return Map.groupBy(samples, ({ scenario, server }) => `${scenario} ${server}`);
}

/** Returns the medians of each server in each scenario, in the order of the samples. */
export function mediansOf<K extends string, T extends Cell & Readonly<Record<K, number>>>(
  samples: readonly T[],
  keys: readonly K[],
): (Cell & Record<K, number>)[] {
  return [...groupsOf(samples).values()].map((group) => {
    const [{ scenario, server }] = group as [T, ...T[]];
    const entries = keys.map((key) => [key, median(group.map((each) => each[key]))]);
    return { scenario, server, ...Object.fromEntries(entries) as Record<K, number> };
  });
}

/** Returns the median of ratios, and the bounds of the middle half of the rounds. */
function spreadOf(ratios: readonly number[]) {
  return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}

/**
 * Sums up samples by scenario and server, in the order of the samples. Ratios of CPU times are those to the baseline, to
 * Express on lean Mongoose, to the scenario's server by hand, and to the scenario without the option of the class.
 */
export function sumUp(
  samples: readonly Sample[],
  scenarios: readonly Pick<Scenario, "name" | "byHand" | "without">[] = [],
) {
  const groups = groupsOf(samples);
  return mediansOf(samples, MEASURED).map((figure) => {
    const { scenario, server } = figure;
    const own = groups.get(`${scenario} ${server}`) ?? [];
    // Divides each round by the same round of another server or scenario
    const ratiosTo = (other: string) => {
      const others = groups.get(other) ?? [];
      return own.flatMap(({ round, cpuMs }) =>
        others.filter((other) => other.round === round).map((other) => cpuMs / other.cpuMs)
      );
    };
    const beside = (kind: string = "") => ratiosTo(`${scenario} ${besideOf(server, kind)}`);
    const { byHand, without } = scenarios.find(({ name }) => name === scenario) ?? {};
    const ratios = beside(BASELINE);
    const toLean = beside(LEAN);
    const toHand = beside(byHand);
    const toPlain = ratiosTo(`${without} ${server}`);
    return {
      ...figure,
      ratio: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
      ...toLean.length > 0 && { toLean: median(toLean) },
      ...toHand.length > 0 && { toHand: spreadOf(toHand) },
      ...toPlain.length > 0 && { toPlain: spreadOf(toPlain) },
      rounds: own.length,
    };
  });
}

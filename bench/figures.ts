/** Samples of rounds, and their medians. @module */
import type { Scenario } from "./scenarios.ts";
import { BASELINE, besideOf, LEAN } from "./servers.ts";

/** A server in a scenario in a round. Times are those of one request. */
export interface Sample extends Readonly<Record<Measured, number>> {
  readonly scenario: string;
  readonly server: string;
  readonly round: number;
}

type Measured = "cpuMs" | "databaseMs" | "perSecond" | "firstByteMs" | "p99Ms" | "peakMb" | "bytes";

/** The medians of all rounds of a server in a scenario. */
export interface Figure extends Omit<Sample, "round"> {
  /** The ratio of the CPU time to that of the baseline on the same runtime in the same round. */
  readonly ratio: number;
  /** The lowest and the highest ratio of a round. */
  readonly lowest: number;
  readonly highest: number;
  /** The ratio to Express on lean Mongoose, if that is measured. */
  readonly toLean?: number;
  /** The ratio to the scenario's server by hand, if that is measured, and the bounds of the middle half of the rounds. */
  readonly toHand?: Spread;
  /** The same for the ratio to the scenario without the option of the class. */
  readonly toPlain?: Spread;
  readonly rounds: number;
}

type Spread = Readonly<Record<"median" | "low" | "high", number>>;

/** The medians of starts of a process with a number of models, and of requests for an entity of the last model. */
export interface ModelFigure {
  readonly server: string;
  readonly models: number;
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly startMb: number;
  readonly cpuMs: number;
}

/** Returns the value below which this part of the values is, between two values where it falls between them. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the medians of some numbers of records. */
export function medians<K extends string>(
  group: readonly Readonly<Record<K, number>>[],
  keys: readonly K[],
): Record<K, number> {
  const entries = keys.map((key) => [key, median(group.map((each) => each[key]))]);
  return Object.fromEntries(entries);
}

function spreadOf(ratios: readonly number[]): Spread {
  return { median: median(ratios), low: quantile(ratios, 0.25), high: quantile(ratios, 0.75) };
}

/** Sums up samples by scenario and server, in the order of the samples. */
export function sumUp(
  samples: readonly Sample[],
  scenarios: readonly Pick<Scenario, "name" | "byHand" | "without">[] = [],
): Figure[] {
  const groups = Map.groupBy(samples, ({ scenario, server }) => `${scenario} ${server}`);
  return [...groups.values()].map((group) => {
    const [{ scenario, server }] = group as [Sample, ...Sample[]];
    // Divides each round by the same round of another server or scenario
    const ratiosTo = (other: string) => {
      const others = groups.get(other) ?? [];
      return group.flatMap(({ round, cpuMs }) =>
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
      scenario,
      server,
      ratio: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
      ...toLean.length > 0 && { toLean: median(toLean) },
      ...toHand.length > 0 && { toHand: spreadOf(toHand) },
      ...toPlain.length > 0 && { toPlain: spreadOf(toPlain) },
      ...medians(group, ["cpuMs", "databaseMs", "perSecond", "firstByteMs", "p99Ms"]),
      ...medians(group, ["peakMb", "bytes"]),
      rounds: group.length,
    };
  });
}

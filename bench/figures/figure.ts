import { BASELINE, LEAN } from "../plan/servers.ts";
import { median, quantile } from "./quantile.ts";
import type { Sample } from "./sample.ts";

/** The medians of all rounds of a server in a scenario. */
export interface Figure extends Omit<Sample, "round" | "requests"> {
  /** The CPU time as a ratio to that of the baseline on the same runtime in the same round. */
  readonly ratio: number;
  /** The lowest ratio of a round. */
  readonly lowest: number;
  /** The highest ratio of a round. */
  readonly highest: number;
  /** The CPU time as a ratio to that of Express on lean Mongoose; missing where that is not measured. */
  readonly toLean?: number;
  /** The CPU time as a ratio to that of the server that people write by hand for the scenario, if there is one. */
  readonly toHand?: Interval;
  /** How many rounds there are. */
  readonly rounds: number;
}

/** A median, and where the middle half of the rounds lies. */
export interface Interval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Sums up samples, by scenario and server in the order in which they first came.
 *
 * @param samples The samples.
 * @param byHand The server that people write by hand for a scenario, by its name.
 */
export function sumUp(
  samples: readonly Sample[],
  byHand: ReadonlyMap<string, string> = new Map(),
): Figure[] {
  const groups = Map.groupBy(samples, ({ scenario, server }) => `${scenario} ${server}`);
  return [...groups.values()].map((group) => {
    const [{ scenario, server }] = group as [Sample, ...Sample[]];
    const ratios = ratiosTo(group, groups.get(`${scenario} ${baselineOf(server)}`));
    const toLean = ratiosTo(group, groups.get(`${scenario} ${peerOf(server, LEAN)}`));
    const hand = byHand.get(scenario);
    const toHand = hand ? ratiosTo(group, groups.get(`${scenario} ${peerOf(server, hand)}`)) : [];
    const of = (key: keyof Omit<Sample, "scenario" | "server">) =>
      median(group.map((sample) => sample[key]));
    return {
      scenario,
      server,
      ratio: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
      ...toLean.length > 0 && { toLean: median(toLean) },
      ...toHand.length > 0 && { toHand: intervalOf(toHand) },
      cpuMs: of("cpuMs"),
      databaseMs: of("databaseMs"),
      perSecond: of("perSecond"),
      firstByteMs: of("firstByteMs"),
      p99Ms: of("p99Ms"),
      peakMb: of("peakMb"),
      bytes: of("bytes"),
      rounds: group.length,
    };
  });
}

function intervalOf(values: readonly number[]): Interval {
  return { median: median(values), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** Names the baseline of a server's runtime. */
export function baselineOf(server: string): string {
  return peerOf(server, BASELINE);
}

/** Names the server of a kind on the runtime of another one. */
function peerOf(server: string, kind: string): string {
  return `${server.split("/")[0]}/${kind}`;
}

/** Divides the CPU time of each round by that of another server in the same round. */
function ratiosTo(group: readonly Sample[], others: readonly Sample[] = []): number[] {
  return group.flatMap(({ round, cpuMs }) => {
    const other = others.find((sample) => sample.round === round);
    return other === undefined ? [] : [cpuMs / other.cpuMs];
  });
}

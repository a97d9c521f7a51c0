import { BASELINE } from "../plan/servers.ts";
import { median } from "./quantile.ts";
import type { Sample } from "./sample.ts";

/** The medians of all rounds of a server in a scenario. */
export interface Figure extends Omit<Sample, "round" | "requests"> {
  /** The CPU time as a ratio to that of the baseline on the same runtime in the same round. */
  readonly ratio: number;
  /** The lowest ratio of a round. */
  readonly lowest: number;
  /** The highest ratio of a round. */
  readonly highest: number;
  /** How many rounds there are. */
  readonly rounds: number;
}

/** Sums up samples, by scenario and server in the order in which they first came. */
export function sumUp(samples: readonly Sample[]): Figure[] {
  const groups = Map.groupBy(samples, ({ scenario, server }) => `${scenario} ${server}`);
  return [...groups.values()].map((group) => {
    const [{ scenario, server }] = group as [Sample, ...Sample[]];
    const baselines = samples.filter((sample) =>
      sample.scenario === scenario && sample.server === baselineOf(server)
    );
    const ratios = group.flatMap(({ round, cpuMs }) => {
      const baseline = baselines.find((sample) => sample.round === round);
      return baseline === undefined ? [] : [cpuMs / baseline.cpuMs];
    });
    const of = (key: keyof Omit<Sample, "scenario" | "server">) =>
      median(group.map((sample) => sample[key]));
    return {
      scenario,
      server,
      ratio: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
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

/** Names the baseline of a server's runtime. */
export function baselineOf(server: string): string {
  return `${server.split("/")[0]}/${BASELINE}`;
}

import { type Figure, sumUp } from "../figures/figure.ts";
import { OURS } from "../plan/servers.ts";
import type { Scenario } from "../plan/scenarios.ts";
import type { Bench } from "./bench.ts";
import { measureRounds } from "./measure_rounds.ts";

/** The widest interval, as a part of its median, that a figure may have at the first try. */
const WIDEST = 0.15;

/**
 * Measures scenarios beside their servers by hand; those whose rounds differ too much, once more. An interrupt ends that, and
 * leaves the figures of the first try.
 */
export async function measureSuite(
  bench: Bench,
  scenarios: readonly Scenario[],
): Promise<Figure[]> {
  const byHand = new Map(scenarios.map(({ name, byHand = "" }) => [name, byHand]));
  const samples = await measureRounds(bench, scenarios);
  const wide = new Set(sumUp(samples, byHand).filter(isWide).map(({ scenario }) => scenario));
  if (wide.size === 0) return sumUp(samples, byHand);
  const kept = samples.filter(({ scenario }) => !wide.has(scenario));
  try {
    const again = await measureRounds(bench, scenarios.filter(({ name }) => wide.has(name)));
    bench.notes.push(`${wide.size} rows were measured again: intervals were wider than 15 %`);
    return sumUp([...kept, ...again], byHand);
  } catch (error) {
    if (!bench.interrupted.aborted) throw error;
    bench.notes.push(`${wide.size} rows have intervals wider than 15 %`);
    return sumUp(samples, byHand);
  }
}

function isWide({ server, toHand }: Figure): boolean {
  return toHand !== undefined && server.endsWith(`/${OURS}`) &&
    (toHand.high - toHand.low) / toHand.median > WIDEST;
}

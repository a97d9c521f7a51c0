import type { Fired } from "../load/commands.ts";

/** One measurement of a server in a scenario. */
export interface Sample {
  /** The scenario's name. */
  readonly scenario: string;
  /** The server's id. */
  readonly server: string;
  /** The round. */
  readonly round: number;
  /** How many requests it is made of. */
  readonly requests: number;
  /** The CPU time of the server's process for one request. */
  readonly cpuMs: number;
  /** The CPU time of the database's process for one request. */
  readonly databaseMs: number;
  /** The requests answered in a second. */
  readonly perSecond: number;
  /** The median time to the first byte of a body. */
  readonly firstByteMs: number;
  /** The time within which 99 of 100 requests were answered. */
  readonly p99Ms: number;
  /** The most memory of the server's process, in megabytes. */
  readonly peakMb: number;
  /** The bytes of one body. */
  readonly bytes: number;
}

/** Makes a sample of what the load generator counted. */
export function toSample(
  fired: Fired,
  of: Pick<Sample, "scenario" | "server" | "round">,
): Sample {
  const { requests, firstByteMs, p99Ms, peakMb } = fired;
  return {
    ...of,
    requests,
    cpuMs: fired.cpuMs / requests,
    databaseMs: fired.databaseMs / requests,
    perSecond: 1_000 * requests / fired.ms,
    firstByteMs,
    p99Ms,
    peakMb,
    bytes: fired.bytes / requests,
  };
}

/**
 * Adds further requests to those that were counted first, from whom times to the first byte and peak
 * memory are taken.
 */
export function addFired(first: Fired, more: Fired): Fired {
  return {
    ...first,
    requests: first.requests + more.requests,
    bytes: first.bytes + more.bytes,
    ms: first.ms + more.ms,
    cpuMs: first.cpuMs + more.cpuMs,
    databaseMs: first.databaseMs + more.databaseMs,
  };
}

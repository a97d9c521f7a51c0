import { completeLimits } from "../../errors/complete_limits.ts";

/**
 * Limits on live lists.
 *
 * @example Ask for rights every five seconds
 * ```ts
 * import type { InitializeOptions } from "@mongrove/mongrove";
 *
 * const options: InitializeOptions = { live: { renewMS: 5000, maxSubscribers: 2000 } };
 * ```
 */
export interface LiveLimits {
  /**
   * The most subscribers that a process has at a time. The next one gets a 503.
   *
   * @default {10000}
   */
  readonly maxSubscribers?: number;
  /**
   * The time after which `preFetch` hooks, rights and scopes are asked again, in milliseconds.
   *
   * @default {30000}
   */
  readonly renewMS?: number;
  /**
   * The time between two comments that keep a connection open, in milliseconds.
   *
   * @default {15000}
   */
  readonly heartbeatMS?: number;
  /**
   * The time after which a stream ends, in milliseconds. Its client opens another one.
   *
   * @default {3600000}
   */
  readonly maxAgeMS?: number;
  /**
   * The most bytes that wait for a slow client, besides the list itself. With more, it gets the list again.
   *
   * @default {1048576}
   */
  readonly maxUnsentBytes?: number;
}

const DEFAULTS: Required<LiveLimits> = {
  maxSubscribers: 10_000,
  renewMS: 30_000,
  heartbeatMS: 15_000,
  maxAgeMS: 3_600_000,
  maxUnsentBytes: 1_048_576,
};

export function completeLiveLimits(given: LiveLimits = {}): Required<LiveLimits> {
  return completeLimits(given, { defaults: DEFAULTS, what: "live lists" });
}

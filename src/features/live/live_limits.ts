import { completeLimits } from "../../errors/complete_limits.ts";
import type { Route } from "../../pipeline/request/route.ts";

/**
 * @internal Limits on live lists, for the option `limits.live` of `Framework.initialize()`.
 *
 * @example Ask for rights every five seconds
 * ```ts
 * import type { InitializeOptions } from "@mongrove/mongrove";
 *
 * const options: InitializeOptions = { limits: { live: { renewMS: 5000 } } };
 * ```
 */
export interface LiveLimits {
  /**
   * The maximum number of subscribers of live lists in a process. Further subscribers get a 503.
   *
   * @default {10000}
   */
  readonly maxSubscribers?: number;
  /**
   * The interval after which `preFetch` hooks, rights and scopes run again for an open live list, in milliseconds. The
   * stream ends if its reader has lost the right.
   *
   * @default {30000}
   */
  readonly renewMS?: number;
  /**
   * The time after which the server ends the stream of a live list, in milliseconds. The client then connects again,
   * and hooks check the new headers.
   *
   * @default {3600000}
   */
  readonly maxAgeMS?: number;
  /**
   * The maximum bytes of events that wait for a slow client, without the list itself. A client with more gets the whole
   * list again.
   *
   * @default {1048576}
   */
  readonly maxUnsentBytes?: number;
}

const DEFAULTS: Required<LiveLimits> = {
  maxSubscribers: 10_000,
  renewMS: 30_000,
  maxAgeMS: 3_600_000,
  maxUnsentBytes: 1_048_576,
};

export function completeLiveLimits(given: LiveLimits = {}): Required<LiveLimits> {
  return completeLimits(given, { defaults: DEFAULTS, what: "live lists" });
}

export function limitsOf({ settings }: Route): Required<LiveLimits> {
  return settings.get("live") as Required<LiveLimits>;
}

/**
 * @internal The option `batch` of `Framework.initialize()`. All requests of a batch must have one sender, one tenant
 * and one client of MongoDB. The answers of a batch have at most 16 MiB.
 *
 * @example Let clients send up to 20 requests at once
 * ```ts
 * import type { InitializeOptions } from "@mongrove/mongrove";
 *
 * const options: InitializeOptions = { batch: { path: "/batch", max: 20 } };
 * ```
 */
export interface BatchOptions {
  /** The path to which clients send batches, below the path of the router. No route may have the same path. */
  readonly path: string;
  /**
   * The maximum number of requests in a batch. A larger batch answers 413.
   *
   * @default {20}
   */
  readonly max?: number;
}

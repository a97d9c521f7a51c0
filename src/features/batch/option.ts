/**
 * @internal The option `batch` of `Framework.initialize()`. A batch fails if its requests have different senders,
 * tenants or `MongoClient`s, or answers of more than 16 MiB.
 *
 * @example Let clients send up to 20 requests at once
 * ```ts
 * import type { InitializeOptions } from "@mongrove/mongrove";
 *
 * const options: InitializeOptions = { batch: { path: "/batch", max: 20 } };
 * ```
 */
export interface BatchOptions {
  /** The path, below the router, to which clients send batches. No route may have the same path. */
  readonly path: string;
  /**
   * The maximum number of requests in a batch. A larger batch answers 413.
   *
   * @default {20}
   */
  readonly max?: number;
}

/**
 * The option `batch` of `Framework.initialize()`, for requests that contain several requests to routes of the router.
 *
 * @example Let clients send up to 20 requests at once
 * ```ts
 * import type { InitializeOptions } from "@mongrove/mongrove";
 *
 * const options: InitializeOptions = { batch: { path: "/batch", max: 20 } };
 * ```
 */
export interface BatchOptions {
  /** The path of batches below the router, such as `"/batch"`. No route may have the same path. */
  readonly path: string;
  /**
   * The maximum number of requests in a batch.
   *
   * @default {20}
   */
  readonly max?: number;
}

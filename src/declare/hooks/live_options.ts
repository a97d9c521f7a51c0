/** Options of a live list. */
export interface LiveOptions {
  /**
   * The most entities that the list may have. A longer one answers 409, and ends when it grows.
   *
   * @default {10000}
   */
  readonly max?: number;
}

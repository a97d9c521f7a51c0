/** @internal Options of the total, which is the number of entities on all pages of a list. */
export interface CountOptions {
  /**
   * The number of entities at which the database stops counting. For a longer list, the answer has no total. The
   * default is `Infinity`.
   */
  readonly upTo?: number;
  /** Whether every answer has the total. Otherwise, clients ask for the total with the header `Prefer: count=exact`. */
  readonly always?: boolean;
}

/** @internal Options of the total, the number of entities on all pages of a list. */
export interface CountOptions {
  /** The number at which the database stops counting. A longer list has no total. The default is `Infinity`. */
  readonly upTo?: number;
  /** Whether every answer has the total. Otherwise, clients ask for it by `Prefer: count=exact`. */
  readonly always?: boolean;
}

/** @internal Options of a live list, which stays open and sends events about changes. */
export interface LiveOptions {
  /**
   * The most entities of the live list. A longer list answers 409, and a stream ends when its list grows longer. The
   * default is `10000`.
   */
  readonly max?: number;
}

/** @internal The option `live` with its default value, in descriptions of `Framework.describe()`. */
export interface LiveDescription {
  /** The maximum number of entities in the live list. */
  readonly max: number;
}

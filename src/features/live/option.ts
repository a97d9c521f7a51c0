/** @internal Options of a live list, which stays open and sends events about later changes. */
export interface LiveOptions {
  /**
   * The most entities that the live list may have. A longer list answers 409, and the event stream ends when the list
   * grows beyond this number. The default is `10000`.
   */
  readonly max?: number;
}

/** @internal The option `live` of a list with its default value, in a route description of `Framework.describe()`. */
export interface LiveDescription {
  /** The maximum number of entities in the live list. */
  readonly max: number;
}

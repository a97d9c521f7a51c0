/** Options of a live list, which stays open and sends events about later changes. */
export interface LiveOptions {
  /**
   * The most entities that the list may have. A longer list answers 409, and the stream ends when the list grows beyond
   * this number. The default is `10000`.
   */
  readonly max?: number;
}

/** The limit of a live list in the result of `Framework.describe()`. */
export interface LiveDescription {
  /** The maximum number of entities in the list. A longer list is answered with a 409. */
  readonly max: number;
}

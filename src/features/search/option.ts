/** @internal The fields in which the parameter `search` finds words, or `{ index: true }`. */
export type SearchOptions<N extends string = string> = readonly N[] | {
  /** Clients search in all fields of the text index of the collection. */
  readonly index: true;
};

/** The fields in which clients search, or the use of a text index. */
export type SearchOptions<N extends string = string> = readonly N[] | {
  /** Uses the text index of the collection to search. */
  readonly index: true;
};

/** The limits of what clients ask of lists. */
export const LIST_LIMITS = {
  /** The most keys of an order. */
  keys: 8,
  /** The most entities before a page. */
  skipped: 2 ** 31 - 1,
  /** The most words of a search. */
  words: 10,
  /** The most characters of a search. */
  characters: 200,
} as const;

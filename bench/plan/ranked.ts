import { type ItemBody, itemBody } from "./items.ts";

/** The collection that pages are read from; its index is {@linkcode RANKED_INDEX}. */
export const RANKED = "ranked";

/** How many entities {@linkcode RANKED} has. */
export const RANKED_COUNT = 1_000;

/**
 * An index for both orders by rank: equal ranks stand by `_id`, as Mongrove orders them.
 * Other servers sort by the rank alone, for which it serves as well.
 */
export const RANKED_INDEX = { rank: -1, _id: 1 } as const;

/** The collection that entities of {@linkcode RANKED} refer to. */
export const WRITERS = "writers";

/** How many entities {@linkcode WRITERS} has: a page of 50 names each of them once or twice. */
export const WRITER_COUNT = 40;

/** The list of {@linkcode RANKED} in pages, with its total. */
export const PAGED = "paged";

/** The list of {@linkcode RANKED} in pages, each entity with its writer. */
export const POPULATED = "populated";

/** A large collection, and its list in pages, in the order of {@linkcode DEEP_SORT}. */
export const DEEP = "deep";

/** The indexed field that {@linkcode DEEP} is sorted by; its order is that of the items. */
export const DEEP_SORT = "created";

/** An entity of {@linkcode RANKED}, besides its identifier and its reference. */
export interface RankedBody extends ItemBody {
  /** Its place in the order, unlike any other's. */
  rank: number;
}

/** An entity of {@linkcode WRITERS}, besides its identifier. */
export interface WriterBody {
  /** A short text. */
  name: string;
  /** A longer one. */
  about: string;
  /** A date in ISO form; a date in the database. */
  joined: string;
}

/** A prime, so that every rank is there once. */
const STEP = 7_919;

/** Gives the rank of an entity; its order is not that of identifiers. */
export function rankOf(index: number): number {
  return index * STEP % RANKED_COUNT;
}

/** Gives the entities of {@linkcode RANKED} by rank, the highest first, as their indexes. */
export function byRank(): number[] {
  return Array.from({ length: RANKED_COUNT }, (_, index) => index)
    .sort((a, b) => rankOf(b) - rankOf(a));
}

/** Makes the body of an entity of {@linkcode RANKED}. */
export function rankedBody(index: number): RankedBody {
  return { ...itemBody(index), rank: rankOf(index) };
}

/** Gives the index of the writer of an entity: neighbours by rank have different ones. */
export function writerOf(index: number): number {
  return rankOf(index) % WRITER_COUNT;
}

/** Makes the body of a writer. */
export function writerBody(index: number): WriterBody {
  return {
    name: `Writer ${index}`,
    about: `Writes about ${index} things that nobody else has ever written about, and lives well.`,
    joined: new Date(Date.UTC(2020, 0, 1 + index)).toISOString(),
  };
}

import { everyFilter, type Filter } from "../filter/filters.ts";
import type { Order } from "../filter/order.ts";
import type { TargetFinder } from "../json/populate.ts";
import type { CountRead, FoundPage, PageRead } from "../sources/source.ts";
import type { Frame } from "./request/frame.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/**
 * The parts of a statement and of its answer that features set. Every filter applies. Only one feature may set each
 * other piece, because two values could contradict each other.
 */
export interface Pieces {
  /** The conditions that an entity must match, in addition to the filter of hooks and the scopes. */
  readonly filter?: Filter;
  /** The order of a list. The last key is `_id`, so that no two entities are equal in the order. */
  readonly order?: Order;
  /** The fields that the answer shows in addition to `_id`. Without this piece, the answer shows all fields. */
  readonly shown?: readonly string[];
  /** The request for the number of entities in the list. */
  readonly total?: CountRead;
  /** The part of the list that the answer has. Without this piece, the answer has the whole list. */
  readonly window?: Window;
  /** The form of a list in the answer, if the answer is not a JSON array. */
  readonly frame?: Frame;
  /** The finder of the entities that the answer shows in the place of their identifiers. */
  readonly fills?: TargetFinder;
  /** The number of entities that the request creates. Without this piece, a creation creates one entity. */
  readonly creations?: number;
}

export interface Window {
  readonly limit: number;
  readonly skip: number;
  /** The place after which the window begins. Two windows with equal places show the same part of the list. */
  readonly after?: unknown;
  /**
   * Returns the read of the window. The function runs for each read of a list, because the entity after which a window
   * begins may have moved between two reads of a live list.
   */
  locate(context: OpenLevelContext): Promise<PageRead>;
}

/** The result of the read of a list, from which features make headers. */
export interface Found {
  /** The number of entities in the list. Missing if no feature requests the number. */
  readonly total?: number | undefined;
  /** The part of the list that was read. Missing if the answer has the whole list. */
  readonly part?: { readonly found: FoundPage; readonly read: PageRead };
}

export const NO_PIECES: Pieces = {};

/** Joins pieces. Throws if two of them set the same piece, except `filter`, because all filters apply together. */
export function joinPieces(all: readonly Pieces[]): Pieces {
  const [first = NO_PIECES, ...others] = all;
  let joined = first;
  for (const more of others) {
    const twice = Object.keys(more).find((name) =>
      name !== "filter" && Object.hasOwn(joined, name)
    );
    if (twice !== undefined) {
      throw new TypeError(`Cannot join the pieces of a request: two features set "${twice}"`);
    }
    const filter = joined.filter && more.filter && everyFilter(joined.filter, more.filter);
    joined = { ...joined, ...more, ...filter && { filter } };
  }
  return joined;
}

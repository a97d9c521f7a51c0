import { everyFilter, type Filter } from "../filter/filters.ts";
import type { Order } from "../filter/order.ts";
import type { TargetFinder } from "../json/populate.ts";
import type { CountRead, FoundPage, PageRead } from "../sources/source.ts";
import type { Frame } from "./request/frame.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/**
 * The parts of a query and of an answer that features set, such as the sort order (pieces). If several features set a
 * filter, all filters apply. Any other piece may be set by only one feature, because two values could contradict each
 * other.
 */
export interface Pieces {
  /**
   * The conditions that a feature adds, such as a search. An entity must match them in addition to the filter `q`, the
   * filter of hooks and the scopes.
   */
  readonly filter?: Filter;
  /**
   * The sort order of a list. The last key is `_id`, so that no two entities are equal in the order and each page
   * continues at a definite entity.
   */
  readonly order?: Order;
  /** The names of the fields that the answer shows in addition to `_id`. Missing if the answer shows all fields. */
  readonly shown?: readonly string[];
  /**
   * The limit up to which the entities of the list are counted. Missing if no feature needs the number, so that the
   * database does not count.
   */
  readonly total?: CountRead;
  /** The page of the list that the answer has. Missing if the answer has the whole list. */
  readonly window?: Window;
  /** The media type of a list and the texts between its entities. Missing if the list is a JSON array. */
  readonly frame?: Frame;
  /**
   * The object that reads the referenced entities, if the answer shows entities in the place of their identifiers
   * (population).
   */
  readonly fills?: TargetFinder;
  /**
   * The number of entities that the request creates, for which an idempotency key reserves identifiers. Missing if the
   * request creates at most one entity.
   */
  readonly creations?: number;
}

export interface Window {
  readonly limit: number;
  readonly skip: number;
  /**
   * The cursor after which the page begins. Live lists compare cursors, because only requests for the same page can
   * share a read.
   */
  readonly after?: unknown;
  /**
   * Returns the query of the page. A live list calls the function again for each of its reads, because the entity of
   * the cursor may have moved in the sort order since the last read.
   */
  locate(context: OpenLevelContext): Promise<PageRead>;
}

/** The size and the page of a list that was read, from which features make headers such as `Link`. */
export interface Found {
  /** The number of entities in the whole list. Missing if the request does not ask for the number. */
  readonly total?: number | undefined;
  /** The page that was read, with its query. Missing if the answer has the whole list. */
  readonly part?: { readonly found: FoundPage; readonly read: PageRead };
}

export const NO_PIECES: Pieces = {};

/**
 * Joins the pieces that several features have set, such as the sort order. Throws if two features have set the same
 * piece, except `filter`, because all filters apply together.
 */
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

import { everyFilter, type Filter } from "../filter/filters.ts";
import type { Order } from "../filter/order.ts";
import type { TargetFinder } from "../json/populate.ts";
import type { CountRead, FoundPage, PageRead } from "../sources/source.ts";
import type { Frame } from "./request/frame.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/**
 * If several features set a filter, all filters apply. Any other piece may be set by only one feature, because two
 * values could contradict each other.
 */
export interface Pieces {
  /** Applies in addition to the filter `q`, the filter of hooks and the scopes. */
  readonly filter?: Filter;
  /** The last key is `_id`. */
  readonly order?: Order;
  /** The fields shown in addition to `_id`. Missing if the answer shows all fields. */
  readonly shown?: readonly string[];
  /** The limit of the count. Missing if no feature needs the number. */
  readonly total?: CountRead;
  /** Missing if the answer has the whole list. */
  readonly window?: Window;
  /** Missing if the list is a JSON array. */
  readonly frame?: Frame;
  /** Reads the referenced entities that the answer shows in the place of their identifiers. */
  readonly fills?: TargetFinder;
  /**
   * The number of created entities, for which an idempotency key reserves identifiers. Missing if the request creates
   * at most one.
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
   * A live list calls this for each of its reads, because the entity of the cursor may have moved in the sort order.
   */
  locate(context: OpenLevelContext): Promise<PageRead>;
}

export interface Found {
  /** The number of entities in the whole list. Missing if the request does not ask for it. */
  readonly total?: number | undefined;
  /** Missing if the answer has the whole list. */
  readonly part?: { readonly found: FoundPage; readonly read: PageRead };
}

export const NO_PIECES: Pieces = {};

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

import { everyFilter, type Filter } from "../filter/filters.ts";
import type { Order } from "../filter/order.ts";
import type { TargetFinder } from "../json/populate.ts";
import type { CountRead, FoundPage, PageRead } from "../sources/source.ts";
import type { Frame } from "./request/frame.ts";
import type { OpenLevelContext } from "./request/request_context.ts";

/** Filters of all features apply. Other pieces come from one feature only, because two could contradict each other. */
export interface Pieces {
  /** Applies in addition to `q`, scopes and filters of hooks. */
  readonly filter?: Filter;
  readonly order?: Order;
  /** The shown fields besides `_id`. Missing if all are shown. */
  readonly shown?: readonly string[];
  readonly total?: CountRead;
  readonly window?: Window;
  readonly frame?: Frame;
  /** Reads the referenced entities to show instead of their identifiers. */
  readonly fills?: TargetFinder;
  /** The bodies of the entities to create. Missing if the request creates at most one. */
  readonly creations?: readonly unknown[];
}

export interface Window {
  readonly limit: number;
  readonly skip: number;
  /** The cursor. Readers of a live list share a read only if their cursors are equal. */
  readonly after?: unknown;
  /** A live list locates the page for each read, because the cursor's entity may have moved. */
  locate(context: OpenLevelContext): Promise<PageRead>;
}

export interface Found {
  readonly total?: number | undefined;
  readonly part?: { readonly found: FoundPage; readonly read: PageRead };
}

export const NO_PIECES: Pieces = {};

export function mergePieces(all: readonly Pieces[]): Pieces {
  const [first = NO_PIECES, ...others] = all;
  let merged = first;
  for (const more of others) {
    const twice = Object.keys(more).find((name) =>
      name !== "filter" && Object.hasOwn(merged, name)
    );
    if (twice !== undefined) {
      throw new TypeError(`Cannot join the pieces of a request: two features set "${twice}"`);
    }
    const filter = merged.filter && more.filter && everyFilter(merged.filter, more.filter);
    merged = { ...merged, ...more, ...filter && { filter } };
  }
  return merged;
}

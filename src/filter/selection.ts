import type { Filter } from "./filters.ts";
import type { Projection } from "./projection.ts";

/** What a level selects. */
export interface Selection {
  /** The conditions of `q`, as hooks have changed them. */
  readonly filter: Filter;
  /** The conditions of `filter` that hooks have added to those of the client, if they are known. */
  readonly added?: Filter;
  /** The scopes of the level, joined. They are not cast yet. */
  readonly scope: Filter;
  /** The versions that a write may change. */
  readonly version?: Filter | undefined;
  /** The entities that a list may hold, in an order that the database refuses for others. */
  readonly sortable?: Filter;
  readonly options: Record<string, unknown>;
  readonly projection: Projection;
}

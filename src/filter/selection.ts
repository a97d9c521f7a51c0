import type { Filter } from "./q/compile_filter.ts";

/** What a request selects, and how. */
export interface Selection {
  /** What hooks have made of `q`. */
  readonly filter: Filter;
  /** The trusted filter of every `@rest` on the way, cast by nobody yet. */
  readonly scope: Filter;
  /** The options of the query. */
  readonly options: Record<string, unknown>;
  /** The projection of the query. */
  readonly projection: Record<string, unknown>;
}

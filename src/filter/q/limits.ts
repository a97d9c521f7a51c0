import { completeLimits } from "../../errors/complete_limits.ts";

/** Limits on the URL parameter `q`. Larger filters answer 400. */
export interface QueryLimits {
  /** The maximum depth of nested objects. The default is `20`. */
  readonly maxDepth?: number;
  /** The maximum number of conditions in total. The default is `200`. */
  readonly maxClauses?: number;
  /** The maximum length of a list. The default is `1000`. */
  readonly maxList?: number;
  /** The maximum length of a regular expression. The default is `200`. */
  readonly maxRegex?: number;
  /**
   * With `"listed"`, filters name only the paths in the option `filter` of their operation. Operations without it take no
   * `q`.
   */
  readonly paths?: "listed" | undefined;
}

export type FilterLimits = Required<Omit<QueryLimits, "paths">>;

export const DEFAULT_LIMITS: FilterLimits = {
  maxDepth: 20,
  maxClauses: 200,
  maxList: 1000,
  maxRegex: 200,
};

export function completeQueryLimits({ paths, ...given }: QueryLimits = {}): FilterLimits {
  if (paths !== undefined && paths !== "listed") {
    throw new TypeError(`Cannot limit queries: "paths" is not "listed"`);
  }
  return completeLimits(given, { defaults: DEFAULT_LIMITS, what: "queries" });
}

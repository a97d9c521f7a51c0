/** The caps on `q`: what a client's filter may cost. */
export interface QueryLimits {
  /** How deep objects may be nested. @default {20} */
  readonly maxDepth?: number;
  /** How many conditions the filter may have in all. @default {200} */
  readonly maxClauses?: number;
  /** How long a list in it may be. @default {1000} */
  readonly maxList?: number;
  /** How long a regular expression may be. @default {200} */
  readonly maxRegex?: number;
}

/** The caps where the host says nothing. */
export const DEFAULT_LIMITS: Required<QueryLimits> = {
  maxDepth: 20,
  maxClauses: 200,
  maxList: 1000,
  maxRegex: 200,
};

/**
 * Completes the caps.
 *
 * @throws {RangeError} If one is no positive integer.
 */
export function completeLimits(given: QueryLimits = {}): Required<QueryLimits> {
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) {
      throw new RangeError(`Cannot limit queries: "${name}" is ${value}, not a positive integer`);
    }
  }
  return { ...DEFAULT_LIMITS, ...given };
}

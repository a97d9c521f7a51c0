/** The caps on a body: what a client's data may cost. */
export interface BodyLimits {
  /** How many keys its objects may have in all. @default {5000} */
  readonly maxKeys?: number;
  /** How many elements its arrays may have in all. @default {5000} */
  readonly maxElements?: number;
}

/** The caps where the host says nothing. */
export const DEFAULT_BODY_LIMITS: Required<BodyLimits> = { maxKeys: 5_000, maxElements: 5_000 };

/**
 * Completes the caps.
 *
 * @throws {RangeError} If one is no positive integer.
 */
export function completeBodyLimits(given: BodyLimits = {}): Required<BodyLimits> {
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) {
      throw new RangeError(`Cannot limit bodies: "${name}" is ${value}, not a positive integer`);
    }
  }
  return { ...DEFAULT_BODY_LIMITS, ...given };
}

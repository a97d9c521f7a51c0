/**
 * Gives a quantile of values.
 *
 * @param values The values, in any order.
 * @param part The part of them that is below it, such as 0.5 for the median.
 * @returns The quantile, between two values where it falls between them; `NaN` of no values.
 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** Gives the median of values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

import mongoose from "mongoose";
import type { Model } from "mongoose";

/**
 * Does to a filter what a query does before it casts, where the host has set `sanitizeFilter`: operators that
 * `mongoose.trusted()` has not marked become values to be equal to.
 */
export function sanitized(
  model: Model<unknown>,
  filter: Record<string, unknown>,
): Record<string, unknown> {
  const set = model.db.get("sanitizeFilter") ?? mongoose.get("sanitizeFilter");
  return set ? mongoose.sanitizeFilter(filter as never) as Record<string, unknown> : filter;
}

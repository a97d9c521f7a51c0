import mongoose from "mongoose";
import type { Model } from "mongoose";

/** Does what `sanitizeFilter` does before a cast: operators without the mark of `mongoose.trusted()` become values. */
export function sanitized(
  model: Model<unknown>,
  filter: Record<string, unknown>,
): Record<string, unknown> {
  const set = model.db.get("sanitizeFilter") ?? mongoose.get("sanitizeFilter");
  return set ? mongoose.sanitizeFilter(filter as never) as Record<string, unknown> : filter;
}

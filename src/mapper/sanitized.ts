import mongoose from "mongoose";
import type { Model } from "mongoose";
import type { Filter } from "../query/compile_filter.ts";

/**
 * Does to a filter what a query does before it casts, where the host has set `sanitizeFilter`: operators that
 * `mongoose.trusted()` has not marked become values to be equal to.
 */
export function sanitized(model: Model<unknown>, filter: Filter): Filter {
  const set = model.db.get("sanitizeFilter") ?? mongoose.get("sanitizeFilter");
  return set ? mongoose.sanitizeFilter(filter as never) as Filter : filter;
}

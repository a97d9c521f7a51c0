import mongoose from "mongoose";
import type { Connection, Model } from "mongoose";

/** Gives the connection that a query or an aggregation will use; `undefined` for anything else. */
export function connectionOf(work: unknown): Connection | undefined {
  if (work instanceof mongoose.Query) return (work.model as Model<unknown>).db as Connection;
  if (!(work instanceof mongoose.Aggregate)) return undefined;
  return (work.model() as Model<unknown> | undefined)?.db as Connection | undefined;
}

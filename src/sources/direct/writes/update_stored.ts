import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import type { StatementOptions } from "../../../database/time_budget.ts";
import type { Filter } from "../../../filter/filters.ts";
import { timeStamps } from "./time_stamps.ts";

export interface StoredUpdate {
  /** Cast. */
  readonly conditions: Filter;
  /** New values of fields, cast and valid. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly statement: StatementOptions;
}

/**
 * Updates the entity that conditions select in one statement, its version included, and gives the result; `null` if there
 * is none, `undefined` where the database refuses the data.
 */
export async function updateStored(
  model: Model<unknown>,
  { conditions, changes, statement }: StoredUpdate,
): Promise<object | null | undefined> {
  const schema = model.schema as Schema;
  const set = { ...changes, ...timeStamps(model, "updatedAt") };
  const update = {
    ...Object.keys(set).length > 0 && { $set: set },
    $inc: { [schema.get("versionKey") as string]: 1 },
  };
  // Never `raw`: the driver would apply it to error replies too, and lose track of the primary.
  const options = { ...statement, returnDocument: "after", enableUtf8Validation: false } as const;
  try {
    return await model.collection.findOneAndUpdate(conditions, update as never, options);
  } catch (error) {
    const { MongoServerError } = mongoose.mongo;
    if (error instanceof MongoServerError && REFUSALS.has(error.code)) return undefined;
    throw error;
  }
}

/** The server's codes for a version that is no number, for its own rules, and for a value that must be unique. */
const REFUSALS = new Set<unknown>([14, 121, 11000]);

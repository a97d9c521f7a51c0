import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import type { StatementOptions } from "../../../database/time_budget.ts";
import type { Filter } from "../../../filter/filters.ts";
import { hasNoVersion } from "../../../filter/versions.ts";
import { asVersion } from "../../../schema/fields/system_fields.ts";
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
 * is none, `undefined` where the database refuses the data. A version that is no whole number takes a second statement.
 */
export async function updateStored(
  model: Model<unknown>,
  { conditions, changes, statement }: StoredUpdate,
): Promise<object | null | undefined> {
  const key = (model.schema as Schema).get("versionKey") as string;
  const set = { ...changes, ...timeStamps(model, "updatedAt") };
  const update = {
    ...Object.keys(set).length > 0 && { $set: set },
    $inc: { [key]: 1 },
  };
  // Never `raw`: the driver would apply it to error replies too, and lose track of the primary.
  const options = { ...statement, returnDocument: "after", enableUtf8Validation: false } as const;
  try {
    const stored = await model.collection.findOneAndUpdate(conditions, update as never, options);
    if (stored === null || asVersion(stored[key]) !== null) return stored;
    const uncounted = { _id: stored._id, ...hasNoVersion(key) };
    const first = { $set: { [key]: 1 } } as never;
    return await model.collection.findOneAndUpdate(uncounted, first, options) ?? stored;
  } catch (error) {
    const { MongoServerError } = mongoose.mongo;
    if (error instanceof MongoServerError && REFUSALS.has(error.code)) return undefined;
    throw error;
  }
}

/** The server's codes for a version that is the last number or none, for its own rules, and for a value that must be unique. */
const REFUSALS = new Set<unknown>([2, 14, 121, 11000]);

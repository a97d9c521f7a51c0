import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import type { StatementOptions } from "../../../database/patience.ts";
import type { Filter } from "../../../filter/q/compile_filter.ts";
import { timeStamps } from "./time_stamps.ts";

/** An update of one entity in one statement. */
export interface StoredPatch {
  /** The condition that names the entity, and what else must hold; cast. */
  readonly conditions: Filter;
  /** The new values of fields, cast and valid. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** The options of the statement. */
  readonly statement: StatementOptions;
}

/**
 * Updates the one that conditions select, in one statement that counts its version; gives it as it is then, `null` if
 * there is none. Nothing is written and `undefined` given where the database refuses the data: the document tells why.
 */
export async function patchStored(
  model: Model<unknown>,
  { conditions, changes, statement }: StoredPatch,
): Promise<object | null | undefined> {
  const schema = model.schema as Schema;
  const set = { ...changes, ...timeStamps(model, "updatedAt") };
  const update = {
    ...Object.keys(set).length > 0 && { $set: set },
    $inc: { [schema.get("versionKey") as string]: 1 },
  };
  // Never `raw`: the driver would decode error replies so too, and lose track of the primary.
  const options = { ...statement, returnDocument: "after", enableUtf8Validation: false } as const;
  try {
    return await model.collection.findOneAndUpdate(conditions, update as never, options);
  } catch (error) {
    const { MongoServerError } = mongoose.mongo;
    if (error instanceof MongoServerError && REFUSALS.has(error.code)) return undefined;
    throw error;
  }
}

/** What the server says of a version that is no number, of its own rules, and of a value that must be unique. */
const REFUSALS = new Set<unknown>([14, 121, 11000]);

import type { Connection, Model, PipelineStage } from "mongoose";
import { aggregateValues } from "../../schema/mongoose/statements/commands.ts";
import type { StoredObject } from "../../write/stored_values.ts";

/**
 * The options with which the MongoDB driver keeps the BSON type of every value. Values that are read with these options
 * can be written again without a change.
 */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/**
 * Runs an aggregation on a document that is sent with the query and need not be stored. By this aggregation, the
 * database decides whether a changed copy of a document matches a filter before the copy is written.
 */
export async function aggregateDocument(
  { db }: Model<unknown>,
  { document, stages, ...options }: {
    readonly document: StoredObject;
    readonly stages: readonly PipelineStage[];
    readonly maxTimeMS?: number;
  },
): Promise<StoredObject[]> {
  const given = { connection: db as Connection, values: [document], stages };
  return await aggregateValues(given, { ...AS_STORED, ...options });
}

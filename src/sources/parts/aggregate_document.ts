import type { Connection, Model, PipelineStage } from "mongoose";
import { aggregateValues } from "../../schema/mongoose/statements/commands.ts";
import type { StoredObject } from "../../write/stored_values.ts";

/**
 * The options of the driver that keep the BSON type of every value. Values that are read with these options can be
 * written again without a loss.
 */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/**
 * Runs the stages of an aggregation on a given document, which is not stored. The database can therefore decide whether
 * a changed copy of a document matches a filter before the copy is written.
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

import type { Connection, Model, PipelineStage } from "mongoose";
import { aggregateValues } from "../../schema/mongoose/statements/commands.ts";
import type { StoredObject } from "../../write/stored_values.ts";

/** Options that read values as they are stored: nothing is lost when they are written again. */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/** Runs the stages of an aggregation on a document that is not stored. */
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

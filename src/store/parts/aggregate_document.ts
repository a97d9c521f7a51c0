import type { Connection, Model, PipelineStage } from "mongoose";
import { aggregateValues } from "../../schema/mongoose/statements/commands.ts";
import { AS_STORED, type StoredObject } from "../values.ts";

/** Runs the stages on the given document, so that MongoDB checks a changed copy before it is stored. */
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

import type { Model, PipelineStage } from "mongoose";
import type { StoredObject } from "../../write/apply_update.ts";

/** Options that read values as they are stored: nothing is lost when they are written again. */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

export interface StoredQuestion {
  readonly root: StoredObject;
  readonly stages: readonly PipelineStage[];
  readonly maxTimeMS?: number;
}

/** Runs stages on a given document instead of a stored one. */
export async function askStored(
  { db }: Model<unknown>,
  { root, stages, ...options }: StoredQuestion,
): Promise<StoredObject[]> {
  const all = [{ $documents: [{ $literal: root }] }, ...stages];
  return await db.db?.aggregate(all as never, { ...AS_STORED, ...options }).toArray() ?? [];
}

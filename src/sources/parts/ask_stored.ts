import type { Model, PipelineStage } from "mongoose";
import type { StoredObject } from "../../write/apply_update.ts";

/** Reads values as they are stored: nothing is lost when they are written again. */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/** What the database is asked about. */
export interface StoredQuestion {
  /** The document: it is not stored, or not as it is. */
  readonly root: StoredObject;
  /** What the database does with it. */
  readonly stages: readonly PipelineStage[];
  /** The time that the database may take. */
  readonly maxTimeMS?: number;
}

/** Has the database run stages on a document that it need not store; gives what comes out, as stored. */
export async function askStored(
  { db }: Model<unknown>,
  { root, stages, ...options }: StoredQuestion,
): Promise<StoredObject[]> {
  const all = [{ $documents: [{ $literal: root }] }, ...stages];
  return await db.db?.aggregate(all as never, { ...AS_STORED, ...options }).toArray() ?? [];
}

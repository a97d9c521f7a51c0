import type { Model, PipelineStage } from "mongoose";
import type { StoredObject } from "../writing/apply_update.ts";

/** Reads values as they are stored: nothing is lost when they are written again. */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

/** Has the database run stages on a document that is not stored, or not as it is; gives what comes out, as stored. */
export async function askStored(
  { db }: Model<unknown>,
  { root, stages }: { readonly root: StoredObject; readonly stages: readonly PipelineStage[] },
): Promise<StoredObject[]> {
  const all = [{ $documents: [{ $literal: root }] }, ...stages];
  return await db.db?.aggregate(all as never, AS_STORED as never).toArray() ?? [];
}

import type { Collection, Connection, Model } from "mongoose";
import type { Actor } from "../../declare/hooks/framework_request.ts";
import type { StoredObject } from "../../store/values.ts";

/** The records of an entity together give each of its versions. */
export interface HistoryRecord {
  readonly entity: unknown;
  /** The version of the entity after the write, from 0. */
  readonly version: number;
  /** By the clock of the database. */
  readonly at: Date;
  readonly actor?: Actor;
  readonly operation: string;
  /** Empty for the write that has created the entity. */
  readonly changed: readonly string[];
  /** The values of the changed fields. A field is missing if it was not stored before the write. */
  readonly before: StoredObject;
}

export function historyOf({ db, collection: { name } }: Model<unknown>): Collection<HistoryRecord> {
  return (db as Connection).collection<HistoryRecord>(`${name}_history`);
}

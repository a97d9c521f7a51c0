import type { Collection, Connection, Model } from "mongoose";
import type { Actor } from "../../declare/hooks/framework_request.ts";
import type { StoredObject } from "../../write/stored_values.ts";

/**
 * A record of the history, which describes one write of an entity. The records of an entity together give each of its
 * versions.
 */
export interface HistoryRecord {
  readonly entity: unknown;
  /**
   * The version of the entity after the write, from 0. The history of an entity is read in the order of these versions.
   */
  readonly version: number;
  /** The time of the write by the clock of the database. */
  readonly at: Date;
  readonly actor?: Actor;
  readonly operation: string;
  /** The names of the fields that the write has changed. Empty for the write that has created the entity. */
  readonly changed: readonly string[];
  /**
   * The stored values of the changed fields before the write. A field is missing if it was not stored before the write.
   */
  readonly before: StoredObject;
}

/** Returns the collection with the history of a model, such as `books_history` for the collection `books`. */
export function historyOf({ db, collection: { name } }: Model<unknown>): Collection<HistoryRecord> {
  return (db as Connection).collection<HistoryRecord>(`${name}_history`);
}

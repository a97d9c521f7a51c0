import type { Collection, Connection, Model } from "mongoose";
import type { Actor } from "../../declare/hooks/framework_request.ts";
import type { StoredObject } from "../../store/values.ts";

export interface StoredRecord {
  readonly entity: unknown;
  /** After the write, from 0. */
  readonly version: number;
  /** By the clock of the database. */
  readonly at: Date;
  readonly actor?: Actor;
  /** The means of the sender, by a plugin. */
  readonly via?: string;
  readonly operation: string;
  /** Empty for the creation. */
  readonly changed: readonly string[];
  /** A field that was not stored before is missing. */
  readonly before: StoredObject;
}

export function historyOf({ db, collection: { name } }: Model<unknown>): Collection<StoredRecord> {
  return (db as Connection).collection<StoredRecord>(`${name}_history`);
}

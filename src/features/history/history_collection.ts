import type { Collection, Connection, Model } from "mongoose";
import type { Actor } from "../../declare/hooks/framework_request.ts";
import type { StoredObject } from "../../store/values.ts";

export interface StoredRecord {
  readonly entity: unknown;
  readonly version: number;
  readonly at: Date;
  readonly actor?: Actor;
  /** The means by which a plugin admitted the sender, such as a key. */
  readonly via?: string;
  readonly operation: string;
  readonly changed: readonly string[];
  /** A field that was not stored before the write is missing. */
  readonly before: StoredObject;
}

export function historyOf({ db, collection: { name } }: Model<unknown>): Collection<StoredRecord> {
  return (db as Connection).collection<StoredRecord>(`${name}_history`);
}

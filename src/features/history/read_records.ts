import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { StoredObject } from "../../write/stored_values.ts";
import { historyOf, type HistoryRecord } from "./history_collection.ts";

/**
 * The options of all reads of the history. A secondary may not have the newest records of the entity yet, so the
 * primary is asked.
 */
const FROM_PRIMARY = { readPreference: "primary" } as const;

interface RecordQuery {
  /**
   * The stored values of the entity as this request has read them. Records of the history for later writes are left
   * out, because earlier versions are computed backwards from these values.
   */
  readonly current: StoredObject;
  /**
   * The condition on the versions of the records to read, such as `{ $gt: 5 }`. Without it, the whole history of the
   * entity is read.
   */
  readonly versions?: Readonly<Record<string, number>>;
  readonly batchSize?: number;
  /** Receives each record of the history that was read. The result `false` ends the read. */
  readonly see: (record: HistoryRecord) => boolean;
}

/** Reads the history of an entity, newest record first, and calls `see` with each record. */
export async function eachRecord(
  context: OpenLevelContext,
  { current, versions = {}, see, ...options }: RecordQuery,
): Promise<void> {
  const { route: { maxTimeMS }, timeBudget } = context;
  const model = await context.model();
  const key = versionKeyOf(model) ?? "";
  // A `fetch` hook of the application may read an entity without its version. The version of its newest record is
  // unknown in this case, so all records of the entity are read.
  const latest = Object.hasOwn(current, key) ? latestOf(current, key) : Number.MAX_SAFE_INTEGER;
  const version = { $lte: latest, ...versions };
  const filter = { ...await ofPresentLife(context, current._id), version };
  const sorted = { ...FROM_PRIMARY, maxTimeMS, ...options, sort: { version: -1 } } as const;
  const records = historyOf(model).find(filter, sorted);
  const read = async () => {
    for await (const record of records) {
      if (!see(record)) return;
    }
  };
  await timeBudget.wait(read());
}

/**
 * Returns the version in the stored values of an entity, or 0 if they have no version, as in data of other programs.
 */
export function latestOf(current: StoredObject, key = ""): number {
  return asVersion(current[key]) ?? 0;
}

/**
 * Returns the filter for the records of the history since the creation of an entity. An earlier entity with the same
 * identifier may have been removed, and its records could show data of another owner.
 */
async function ofPresentLife(
  { model, route: { maxTimeMS }, timeBudget }: OpenLevelContext,
  entity: unknown,
): Promise<StoredObject> {
  const history = historyOf(await model());
  const created = { entity, version: 0 };
  const options = { ...FROM_PRIMARY, maxTimeMS, sort: { at: -1 } } as const;
  const found = await timeBudget.wait(history.findOne(created as never, options));
  return found === null ? { entity } : { entity, at: { $gte: found.at } };
}

/**
 * Returns the values of an entity before a write, from its values after the write and the record of the history for
 * this write.
 */
export function valuesBefore(
  values: StoredObject,
  { changed, before }: Pick<HistoryRecord, "changed" | "before">,
): StoredObject {
  const names = new Set(changed);
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  return Object.fromEntries([...others, ...Object.entries(before)]);
}

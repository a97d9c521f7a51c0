import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { StoredObject } from "../../write/stored_values.ts";
import { historyOf, type HistoryRecord } from "./history_collection.ts";

/**
 * The options of a read of records. A secondary may lack the records of the version that was read, so the primary is
 * asked.
 */
const FROM_PRIMARY = { readPreference: "primary" } as const;

interface RecordQuery {
  /** The stored values of the entity. Records of later versions are left out. */
  readonly current: StoredObject;
  /** The condition on the versions of the records. The default is all versions up to the present one. */
  readonly versions?: Readonly<Record<string, number>>;
  readonly batchSize?: number;
  /** Gets each record. The result `false` ends the read. */
  readonly see: (record: HistoryRecord) => boolean;
}

/** Reads the records of an entity, newest first. */
export async function eachRecord(
  context: OpenLevelContext,
  { current, versions = {}, see, ...options }: RecordQuery,
): Promise<void> {
  const { route: { maxTimeMS }, timeBudget } = context;
  const model = await context.model();
  const key = versionKeyOf(model) ?? "";
  // A `fetch` hook may read an entity without its version. All records of the entity are read in this case.
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

/** Returns the present version of an entity. */
export function latestOf(current: StoredObject, key = ""): number {
  return asVersion(current[key]) ?? 0;
}

/**
 * Returns the filter for the records of an entity since its creation. An entity with the same identifier may have been
 * removed before, and its records belong to no reader of the present entity.
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

/** Returns the values of an entity before a write, from its values after the write and the record of the write. */
export function valuesBefore(
  values: StoredObject,
  { changed, before }: Pick<HistoryRecord, "changed" | "before">,
): StoredObject {
  const names = new Set(changed);
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  return Object.fromEntries([...others, ...Object.entries(before)]);
}

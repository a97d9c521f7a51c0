import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { StoredObject } from "../../store/values.ts";
import { historyOf, type StoredRecord } from "./history_collection.ts";

/** A secondary may not have the newest records yet. */
const FROM_PRIMARY = { readPreference: "primary" } as const;

interface RecordQuery {
  readonly current: StoredObject;
  readonly versions?: Readonly<Record<string, number>>;
  readonly batchSize?: number;
}

export async function* eachRecord(
  context: OpenLevelContext,
  { current, versions = {}, ...options }: RecordQuery,
): AsyncGenerator<StoredRecord> {
  const { route: { maxTimeMS }, timeBudget } = context;
  const model = await context.model();
  const key = versionKeyOf(model) ?? "";
  // Records newer than `current` are left out. If a `fetch` hook gives no version, all records are read.
  const latest = Object.hasOwn(current, key) ? latestOf(current, key) : Number.MAX_SAFE_INTEGER;
  const version = { $lte: latest, ...versions };
  const filter = { ...await ofCurrentLife(context, current._id), version };
  const sorted = { ...FROM_PRIMARY, maxTimeMS, ...options, sort: { version: -1 } } as const;
  const records = historyOf(model).find(filter, sorted);
  try {
    for (;;) {
      const record = await timeBudget.wait(records.next());
      if (record === null) return;
      yield record;
    }
  } finally {
    await records.close();
  }
}

export function latestOf(current: StoredObject, key = ""): number {
  return asVersion(current[key]) ?? 0;
}

/** Leaves out records of a removed entity with the same identifier, which could show data of another owner. */
async function ofCurrentLife(
  { model, route: { maxTimeMS }, timeBudget }: OpenLevelContext,
  entity: unknown,
): Promise<StoredObject> {
  const history = historyOf(await model());
  const created = { entity, version: 0 };
  const options = { ...FROM_PRIMARY, maxTimeMS, sort: { at: -1 } } as const;
  const found = await timeBudget.wait(history.findOne(created as never, options));
  return found === null ? { entity } : { entity, at: { $gte: found.at } };
}

export function valuesBefore(
  values: StoredObject,
  { changed, before }: Pick<StoredRecord, "changed" | "before">,
): StoredObject {
  const names = new Set(changed);
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  return Object.fromEntries([...others, ...Object.entries(before)]);
}

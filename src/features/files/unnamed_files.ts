import type { Connection, Model, mongo } from "mongoose";
import { MAX_TIME_MS } from "../../store/time_budget.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { storedText } from "../../store/values.ts";
import { CHECK_MS, type FileRecord, FileStore } from "./file_store.ts";

export interface FileOwners {
  readonly model: Model<unknown>;
  readonly paths: readonly string[];
}

export interface CheckedFiles {
  readonly filter: mongo.Filter<FileRecord>;
  readonly limit: number;
  /** The time of a check by housekeeping, which checks kept files again about a day later. */
  readonly at?: Date;
}

interface Checked {
  readonly checked: number;
  readonly removed: number;
}

/** A process may end before it updates the record in GridFS, so the stored entity decides whether its file stays. */
export async function removeUnnamed(
  { model, paths }: FileOwners,
  { filter, limit, at }: CheckedFiles,
): Promise<Checked> {
  const store = new FileStore(model.db as Connection);
  const own = { $and: [{ "metadata.collection": model.collection.name }, filter] };
  const found = await store.records.find(own as mongo.Filter<FileRecord>, {
    projection: { "metadata.entity": 1 },
    limit,
    maxTimeMS: MAX_TIME_MS,
  }).toArray();
  if (found.length === 0) return { checked: 0, removed: 0 };
  const named = await namedIn(model, { files: found, paths });
  const suspects = found.filter(({ _id }) => !named.has(String(_id)));
  // A newer version of the application may have renamed the field, so a file stays if its entity names it anywhere.
  const namedAnywhere = await namedIn(model, { files: suspects });
  const [unnamed, kept] = [[], []] as [FileRecord[], FileRecord[]];
  for (const each of found) {
    const id = String(each._id);
    (named.has(id) || namedAnywhere.has(id) ? kept : unnamed).push(each);
  }
  if (at !== undefined) {
    const checkAt = new Date(at.getTime() + CHECK_MS);
    await store.records.updateMany({ _id: { $in: kept.map(({ _id }) => _id) } }, {
      $set: { "metadata.isConfirmed": true, "metadata.checkAt": checkAt },
    } as object);
  }
  return { checked: found.length, removed: await removeClaimed(store, { own, unnamed }) };
}

/** The update repeats the filter of the search, which no longer matches an upload that was completed meanwhile. */
async function removeClaimed(
  store: FileStore,
  { own, unnamed }: { readonly own: object; readonly unnamed: readonly FileRecord[] },
): Promise<number> {
  if (unnamed.length === 0) return 0;
  const ids = { _id: { $in: unnamed.map(({ _id }) => _id) } };
  await store.records.updateMany({ $and: [ids, own] } as object, {
    $set: { "metadata.isRemoved": true, "metadata.checkAt": new Date() },
  } as object);
  const claimed = { ...ids, "metadata.isRemoved": true };
  const gone = await store.records.find(claimed as object, { projection: { _id: 1 } }).toArray();
  for (const { _id } of gone) await store.remove(_id);
  return gone.length;
}

async function namedIn(
  { collection }: Model<unknown>,
  { files, paths }: { readonly files: readonly FileRecord[]; readonly paths?: readonly string[] },
): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  if (files.length === 0) return named;
  const entities = new Map(
    files.map(({ metadata: { entity } }) => [storedText(entity), entity] as const),
  );
  const projection = paths && Object.fromEntries(["_id", ...paths].map((path) => [path, 1]));
  // Without `majority`, a failover could undo the read values, and an entity could refer to removed bytes.
  const cursor = collection.find({ _id: { $in: [...entities.values()] } } as object, {
    ...projection && { projection },
    promoteValues: true,
    readPreference: "primary",
    readConcern: { level: "majority" },
    maxTimeMS: MAX_TIME_MS,
  });
  for await (const entity of cursor) collectIds(entity, named);
  return named;
}

function collectIds(value: unknown, found: Set<string>): void {
  if (isObjectId(value)) found.add(String(value));
  else if (Array.isArray(value)) { for (const each of value) collectIds(each, found); }
  else if (isJsonObject(value)) {
    for (const each of Object.values(value)) {
      collectIds(each, found);
    }
  }
}

/** A portion must end before the lease of housekeeping, or another process would take over. */
const PORTION_MS = 20_000;

export async function tidyFiles(
  owners: FileOwners,
  { at, limit }: { readonly at: Date; readonly limit: number },
): Promise<number> {
  const end = performance.now() + PORTION_MS;
  const filter = { "metadata.checkAt": { $lte: at } };
  for (;;) {
    const { checked, removed } = await removeUnnamed(owners, { filter, limit, at });
    if (removed > 0 || checked < limit || performance.now() > end) return removed;
  }
}

/** The most files that a search finds. Housekeeping checks the others within a day. */
const MAX_ORPHANS = 10_000;

interface OrphanRemoval {
  readonly running: Promise<void>;
  /** The running search may miss entities that are removed meanwhile, so their requests wait for this next search. */
  next?: Promise<void>;
}

const removals = new WeakMap<object, OrphanRemoval>();

/** A search reads all records of the class, so a class has one search at a time. */
export function removeOrphans(owners: FileOwners, limit: number): Promise<void> {
  const { model } = owners;
  const current = removals.get(model);
  const begin = () => {
    const running = findAndRemove(owners, limit);
    const removal: OrphanRemoval = { running };
    removals.set(model, removal);
    const end = () => removal.next === undefined && removals.delete(model);
    running.then(end, end);
    return running;
  };
  if (current === undefined) return begin();
  return current.next ??= current.running.then(begin, begin);
}

async function findAndRemove(owners: FileOwners, limit: number): Promise<void> {
  const { model } = owners;
  const store = new FileStore(model.db as Connection);
  const { name } = model.collection;
  const orphans = await store.records.aggregate<FileRecord>([
    { $match: { "metadata.collection": name, "metadata.isConfirmed": true } },
    {
      $lookup: {
        from: name,
        localField: "metadata.entity",
        foreignField: "_id",
        pipeline: [{ $project: { _id: 1 } }],
        as: "entities",
      },
    },
    { $match: { entities: [] } },
    { $limit: MAX_ORPHANS },
    { $project: { _id: 1 } },
  ], { maxTimeMS: MAX_TIME_MS }).toArray();
  const filter = { _id: { $in: orphans.map(({ _id }) => _id) } };
  await store.suspect(filter);
  await removeUnnamed(owners, { filter, limit });
}

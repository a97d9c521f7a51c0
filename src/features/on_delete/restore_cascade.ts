import type { ModelClass } from "../../declare/model/framework_model.ts";
import { everyFilter, type Filter, topOf } from "../../filter/filters.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { collectionName } from "../../schema/model_name.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import { castIdentifier } from "../../sources/entities.ts";
import { type StoredObject, storedText } from "../../store/values.ts";
import { BEFORE_WRITE, type WrittenEntity } from "../../store/writes/written_entity.ts";
import { fieldsReferringTo, referringFields } from "./referring_fields.ts";
import { classWriterFor, type RequestWrite } from "./request_write.ts";
import { mustExist, referencesAt } from "./touch_referred.ts";

interface Removed {
  readonly target: ModelClass;
  readonly stored: StoredObject;
}

/** Earlier versions of the framework stored no `removalId`, so their removals are recognized by the time. */
interface Cascade {
  readonly at: Date;
  readonly removalId: unknown;
}

export async function restoreCascade(
  write: RequestWrite,
  returned: readonly WrittenEntity[],
): Promise<void> {
  // Another restoration has caused this write, and restores the whole cascade itself.
  if (write.request.origin !== undefined || returned.length === 0) return;
  const { target } = write;
  if (!fieldsReferringTo(target).some(({ rule }) => rule === "cascade")) return;
  const { removal } = await classWriterFor(write, write);
  if (removal === undefined) return;
  for (const { id, before = {} } of returned) {
    const at = before[removal.time];
    if (!(at instanceof Date)) continue;
    const cascade = { at, removalId: before[removal.removalId] };
    const root = { target, stored: { _id: id } };
    const found = await cascadeOf(write, { root, cascade });
    await leaveOutWaiting(write, { found, cascade });
    found.delete(keyOf(root));
    for (const [owner, some] of Map.groupBy(found.values(), (each) => each.target)) {
      await restoreAll(write, { target: owner, ids: some.map(({ stored }) => stored._id) });
    }
  }
}

/**
 * An entity stays in the trash until the last entity is restored to which it refers by `cascade` or `restrict`, so this
 * follows both.
 */
async function cascadeOf(
  write: RequestWrite,
  { root, cascade }: { readonly root: Removed; readonly cascade: Cascade },
): Promise<Map<string, Removed>> {
  const found = new Map([[keyOf(root), root]]);
  for (let last: readonly Removed[] = [root]; last.length > 0;) {
    const next: Removed[] = [];
    for (const [target, some] of Map.groupBy(last, (each) => each.target)) {
      for (const { owner, path, type, rule } of fieldsReferringTo(target)) {
        // More entities of this class may have been removed directly. Restoring one must not restore others, even if
        // they refer to it by `restrict`.
        if (!mustExist({ rule }) || rule === "restrict" && owner === root.target) continue;
        const ids = some.map(({ stored }) => castForQuery(type, stored._id));
        const named = { [path]: { $in: ids } };
        const removed = await readRemoved(write, { target: owner, named, cascade });
        next.push(...removed.filter(mayFollow));
      }
    }
    last = next.filter((each) => !found.has(keyOf(each)));
    for (const each of last) found.set(keyOf(each), each);
  }
  return found;
}

function mayFollow({ target, stored }: Removed): boolean {
  return referringFields(target).some((field) =>
    field.rule === "cascade" && referencesAt(stored, field).length > 0
  );
}

/** Leaves out an entity if it refers to another one of the same removal that stays in the trash. */
async function leaveOutWaiting(
  write: RequestWrite,
  { found, cascade }: { readonly found: Map<string, Removed>; readonly cascade: Cascade },
): Promise<void> {
  const referring: (readonly [from: string, to: string])[] = [];
  const missing = new Set<string>();
  for (const [owner, some] of Map.groupBy(found.values(), (each) => each.target)) {
    for (const field of referringFields(owner).filter(mustExist)) {
      const { referred: target } = field;
      const { model } = await classWriterFor(write, { target, reach: "route" });
      const ids = some.flatMap((each) =>
        referencesAt(each.stored, field).map((value) => {
          const _id = castIdentifier(value, model) ?? value;
          referring.push([keyOf(each), keyOf({ target, stored: { _id } })]);
          return _id;
        })
      );
      for (
        const each of await readRemoved(write, { target, named: { _id: { $in: ids } }, cascade })
      ) {
        if (!found.has(keyOf(each))) missing.add(keyOf(each));
      }
    }
  }
  for (let count = -1; count < missing.size;) {
    count = missing.size;
    for (const [from, to] of referring) if (missing.has(to)) missing.add(from);
  }
  for (const key of missing) found.delete(key);
}

async function readRemoved(
  write: RequestWrite,
  { target, named, cascade: { at, removalId } }: {
    readonly target: ModelClass;
    readonly named: Filter;
    readonly cascade: Cascade;
  },
): Promise<Removed[]> {
  const { model, classConditions, removal } = await classWriterFor(write, {
    target,
    reach: "route",
  });
  if (removal === undefined) return [];
  const tops = ["_id", ...referringFields(target).map(({ path }) => topOf(path))];
  const projection = Object.fromEntries(tops.map((name) => [name, 1]));
  const same = removalId === undefined || removalId === null
    ? { [removal.time]: at, [removal.removalId]: null }
    : { [removal.removalId]: removalId };
  const filter = everyFilter(named, same, classConditions);
  const options = { ...BEFORE_WRITE, projection, session: write.session };
  const found = await model.collection.find(filter, options).toArray();
  return found.map((stored) => ({ target, stored }));
}

async function restoreAll(
  write: RequestWrite,
  { target, ids }: { readonly target: ModelClass; readonly ids: readonly unknown[] },
): Promise<void> {
  const writer = await classWriterFor(write, { target, reach: "route" });
  const names = writer.removal?.all ?? [];
  const update = { $unset: Object.fromEntries(names.map((name) => [name, 1])) };
  await writer.update(everyFilter({ _id: { $in: ids } }, writer.classConditions), { update });
}

function keyOf({ target, stored }: Removed): string {
  return `${collectionName(target, buildSchema(target).schema)} ${storedText(stored._id)}`;
}

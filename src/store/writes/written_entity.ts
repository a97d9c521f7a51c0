import type { Document } from "mongoose";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { topOf } from "../../filter/filters.ts";
import { AS_STORED, type StoredObject, storedText, valueAt } from "../values.ts";

export interface WrittenEntity {
  readonly id: unknown;
  /** The values before the write: for an update, its fields, the version and the discriminator key. */
  readonly before?: StoredObject | undefined;
  readonly created?: StoredObject;
  readonly changed?: readonly string[];
}

/** Without `promoteValues`, error codes would be objects too. Integers of 64 bits keep their BSON type. */
export const BEFORE_WRITE = { ...AS_STORED, promoteValues: true } as const;

export function updatedFields(update: Update): string[] {
  return [...new Set(Object.values(update).flatMap((paths) => Object.keys(paths).map(topOf)))];
}

/** Leaves out fields set to their stored values, because only real changes are recorded. */
export function changedBy(update: Update, before: StoredObject): string[] {
  const { $set = {}, $unset = {}, ...others } = update;
  const set = Object.entries($set).filter(([path, value]) =>
    storedText(valueAt(before, path)) !== storedText(value)
  ).map(([path]) => path);
  const unset = Object.keys($unset).filter((path) => valueAt(before, path) !== undefined);
  return updatedFields({
    ...others,
    $set: Object.fromEntries([...set, ...unset].map((p) => [p, 1])),
  });
}

export function alwaysRead({ schema }: Pick<Document, "schema">): (string | undefined)[] {
  return [versionKeyOf({ schema }), schema.get("discriminatorKey") as string | undefined];
}

export function projectionOfWrite(
  updates: readonly Update[],
  always: readonly (string | undefined)[],
): Readonly<Record<string, 1>> {
  const names = [...updates.flatMap(updatedFields), ...always.filter((name) => name !== undefined)];
  return Object.fromEntries(["_id", ...names].map((name) => [name, 1]));
}

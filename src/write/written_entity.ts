import type { Document } from "mongoose";
import { versionKeyOf } from "../schema/fields/system_fields.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { topOf } from "../filter/filters.ts";
import { AS_STORED, type StoredObject, storedText, valueAt } from "./stored_values.ts";

/** An entity that a statement has written, with the values that class options record, such as for a history. */
export interface WrittenEntity {
  readonly id: unknown;
  /**
   * The stored values before the write. For an update, they are only the values of the version and of the fields that
   * it writes. For a removal, they are the values of all fields. Missing for a new entity.
   */
  readonly before?: StoredObject | undefined;
  /** The stored values of a new entity. Missing for any other write. */
  readonly created?: StoredObject;
  /** The names of the fields that an update has changed. Missing for any other write. */
  readonly changed?: readonly string[];
}

/**
 * The options of a statement that returns the stored values before a write. Integers of 64 bits keep their type, and
 * other numbers become JavaScript numbers. Without `promoteValues`, the driver would return the codes of errors as
 * objects too, and the framework would not recognize the errors.
 */
export const BEFORE_WRITE = { ...AS_STORED, promoteValues: true } as const;

/** Returns the names of the top-level fields that an update writes, so that their stored values can be read before. */
export function fieldsOf(update: Update): string[] {
  return [...new Set(Object.values(update).flatMap((paths) => Object.keys(paths).map(topOf)))];
}

/**
 * Returns the names of the fields that an update has changed, for class options such as a history. A field that the
 * update has set to its stored value is left out, because a history shows only real changes.
 */
export function changedBy(update: Update, before: StoredObject): string[] {
  const { $set = {}, $unset = {}, ...others } = update;
  const set = Object.entries($set).filter(([path, value]) =>
    storedText(valueAt(before, path)) !== storedText(value)
  ).map(([path]) => path);
  const unset = Object.keys($unset).filter((path) => valueAt(before, path) !== undefined);
  return fieldsOf({ ...others, $set: Object.fromEntries([...set, ...unset].map((p) => [p, 1])) });
}

/**
 * Returns the names of the fields whose stored values are read before every write that class options, such as a
 * history, record. These fields are the version and the kind (discriminator) of the entity.
 */
export function alwaysRead({ schema }: Pick<Document, "schema">): (string | undefined)[] {
  return [versionKeyOf({ schema }), schema.get("discriminatorKey") as string | undefined];
}

/**
 * Returns the projection for a statement whose result class options record. The projection has the fields that the
 * updates write, and the fields that a record of any write needs.
 */
export function projectionOfWrite(
  updates: readonly Update[],
  always: readonly (string | undefined)[],
): Readonly<Record<string, 1>> {
  const names = [...updates.flatMap(fieldsOf), ...always.filter((name) => name !== undefined)];
  return Object.fromEntries(["_id", ...names].map((name) => [name, 1]));
}

import type { Document } from "mongoose";
import { versionKeyOf } from "../schema/fields/system_fields.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { topOf } from "../filter/filters.ts";
import { AS_STORED, type StoredObject, storedText } from "./stored_values.ts";

/** An entity that a statement has written, with the values that class options record, such as for a history. */
export interface WrittenEntity {
  readonly id: unknown;
  /**
   * The stored values before the write. An update only reads its own fields and the version, and a removal reads all
   * fields. Missing for a new entity.
   */
  readonly before?: StoredObject | undefined;
  /** The stored values of a new entity. Missing for any other write. */
  readonly created?: StoredObject;
  /** The names of the fields that an update has changed. Missing for any other write. */
  readonly changed?: readonly string[];
}

/**
 * The options of a statement that returns the values before a write. Integers of 64 bits keep their type. Other numbers
 * are promoted, because the driver would also return the codes of errors as objects.
 */
export const BEFORE_WRITE = { ...AS_STORED, promoteValues: true } as const;

/** Returns the names of the top-level fields that an update writes. */
export function fieldsOf(update: Update): string[] {
  return [...new Set(Object.values(update).flatMap((paths) => Object.keys(paths).map(topOf)))];
}

/**
 * Returns the names of the fields that an update has changed. A field that the update has set to its stored value is
 * left out.
 */
export function changedBy(update: Update, before: StoredObject): string[] {
  const { $set = {}, $unset = {} } = update;
  return fieldsOf(update).filter((name) => {
    if (Object.hasOwn($set, name)) {
      return !Object.hasOwn(before, name) || storedText(before[name]) !== storedText($set[name]);
    }
    return !Object.hasOwn($unset, name) || Object.hasOwn(before, name);
  });
}

/** Returns the names of the fields that class options need to record any write, such as the version. */
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

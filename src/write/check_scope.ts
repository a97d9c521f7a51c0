import mongoose from "mongoose";
import type { Connection, Document } from "mongoose";
import { conflict, outOfReach } from "../errors/refusals.ts";
import { topOf } from "../filter/filters.ts";
import type { Filter } from "../filter/filters.ts";
import { copyJson } from "../schema/fields/json.ts";
import { aggregateValues } from "../schema/mongoose/statements/commands.ts";
import { inCommands } from "../schema/mongoose/statements/commands.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { putAt, storedText, storedValues, valueAt } from "./stored_values.ts";
import type { StoredObject } from "./stored_values.ts";

const COMPARABLE = new Set(["string", "number", "boolean"]);

export interface CheckScopeOptions {
  readonly scope: Filter;
  readonly connection: Connection;
}

/** Throws a 403 unless all values are inside a scope: the database matches them, without storing them, where it must. */
export async function checkScope(
  all: readonly StoredObject[],
  { scope, connection }: CheckScopeOptions,
): Promise<void> {
  for (const sent of inCommands(all.filter((values) => !isKnownWithin(values, scope)))) {
    const stages = [{ $match: scope }, { $count: "count" }];
    const [found] = await aggregateValues({ connection, values: sent, stages });
    if (Number(found?.count ?? 0) < sent.length) throw outOfReach();
  }
}

/** Whether values are certainly inside a scope of equalities. With `false`, the database must tell. */
function isKnownWithin(values: Filter, scope: Filter): boolean {
  return Object.entries(scope).every(([path, value]) =>
    path === "$and" && Array.isArray(value)
      ? value.every((each) => isKnownWithin(values, each))
      : !path.includes(".") && isEqual(values[path], value)
  );
}

function isEqual(value: unknown, expected: unknown): boolean {
  if (expected instanceof mongoose.Types.ObjectId) {
    // ObjectId.equals() takes texts and look-alikes for identifiers, which the database does not.
    return value instanceof mongoose.Types.ObjectId && expected.equals(value);
  }
  return COMPARABLE.has(typeof expected) && value === expected;
}

export function writtenPaths(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}

interface StoredStates {
  /** The stored values when the document was read. */
  readonly read: StoredObject;
  /** The values that are stored now. */
  readonly now?: StoredObject;
}

/** Gives the top-level fields that an update writes, as they are then; a 409 if a value that it counts on has changed. */
export function changedFields(
  doc: Document,
  update: Update,
  { read, now = read }: StoredStates,
): StoredObject {
  const values = storedValues(doc);
  const names = [...new Set(writtenPaths(update).map(topOf))];
  const fields = Object.fromEntries(names.map((name) => [name, copyJson(now[name])]));
  for (const [operator, paths] of Object.entries(update)) {
    for (const [path, given] of Object.entries(paths)) {
      if (operator === "$set") putAt(fields, { path, value: given });
      else if (operator === "$unset") putAt(fields, { path, value: undefined });
      else if (storedText(valueAt(now, path)) === storedText(valueAt(read, path))) {
        putAt(fields, { path, value: valueAt(values, path) });
      } else throw conflict();
    }
  }
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

export function setFields(holder: StoredObject, fields: StoredObject): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) delete holder[name];
    else holder[name] = value;
  }
}

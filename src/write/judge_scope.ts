import mongoose from "mongoose";
import type { Connection, Document } from "mongoose";
import { outOfReach } from "../errors/refusals.ts";
import type { Filter } from "../filter/filters.ts";
import { storedValues } from "./stored_values.ts";

/** The types of values that can be compared without the database. */
const COMPARABLE = new Set(["string", "number", "boolean"]);

/** Throws a 403 unless a document, as it is about to be written, is inside a scope. */
export async function judgeScope(doc: Document, scope: Filter): Promise<void> {
  await judgeValues(storedValues(doc), scope, { connection: doc.db });
}

/** Checks values like {@linkcode judgeScope}. The database matches them without storing them where it must. */
export async function judgeValues(
  values: Filter,
  scope: Filter,
  { connection }: { readonly connection: Connection },
): Promise<void> {
  if (isKnownWithin(values, scope)) return;
  const [match] = await connection.db?.aggregate([
    { $documents: [{ $literal: values }] },
    { $match: scope },
    { $project: { _id: 1 } },
  ]).toArray() ?? [];
  if (match === undefined) throw outOfReach();
}

/** Whether values are certainly inside a scope of equalities. With `false`, the database must judge. */
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

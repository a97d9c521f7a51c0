import mongoose from "mongoose";
import type { Connection, Document } from "mongoose";
import { forbidden } from "../errors/refusals.ts";
import type { Filter } from "../filter/q/compile_filter.ts";
import { storedValues } from "./stored_values.ts";

/** Values of which equality can be told without asking the database. */
const PLAIN = new Set(["string", "number", "boolean"]);

/**
 * Judges whether a document, as it is about to be written, is inside a scope. What only a query can tell, the database
 * tells: it matches the document without storing it.
 *
 * @throws {RestError} 403 if it is outside.
 */
export async function judgeScope(doc: Document, scope: Filter): Promise<void> {
  await judgeValues(storedValues(doc), scope, { connection: doc.db });
}

/** Judges values that are about to be stored like {@linkcode judgeScope}. */
export async function judgeValues(
  values: Filter,
  scope: Filter,
  { connection }: { readonly connection: Connection },
): Promise<void> {
  if (isPlainlyWithin(values, scope)) return;
  const [match] = await connection.db?.aggregate([
    { $documents: [{ $literal: values }] },
    { $match: scope },
    { $project: { _id: 1 } },
  ]).toArray() ?? [];
  if (match === undefined) throw forbidden("The entity would be out of reach");
}

/** Whether a document is inside a scope of plain equalities; `false` says only that it cannot be told here. */
function isPlainlyWithin(values: Filter, scope: Filter): boolean {
  return Object.entries(scope).every(([path, value]) =>
    path === "$and" && Array.isArray(value)
      ? value.every((each) => isPlainlyWithin(values, each))
      : !path.includes(".") && isEqual(values[path], value)
  );
}

/** Tells equality of two scalars of one type; `false` says only that it cannot be told here. */
function isEqual(value: unknown, expected: unknown): boolean {
  if (expected instanceof mongoose.Types.ObjectId) {
    // ObjectId.equals() takes texts and look-alikes for identifiers, which the database does not.
    return value instanceof mongoose.Types.ObjectId && expected.equals(value);
  }
  return PLAIN.has(typeof expected) && value === expected;
}

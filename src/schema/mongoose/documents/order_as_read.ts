import type { Document } from "mongoose";
import { setsLate } from "../schemas/field_rules.ts";
import { orderFields, rawValues } from "./document_values.ts";

/**
 * Brings the fields into the order in which Mongoose reads an entity with the stored names, because JSON has the order of
 * fields. `set()` with an object changes it.
 */
export function orderAsRead(doc: Document, stored: readonly string[]): void {
  const { schema } = doc;
  const names = Object.keys(rawValues(doc));
  if (names.length === stored.length && names.every((name, at) => name === stored[at])) return;
  const known = new Set(stored);
  const isLate = (name: string) => setsLate(schema.path(name));
  const others = names.filter((name) => !known.has(name));
  orderFields(doc, [
    ...names.filter((name) => schema.pathType(name) === "nested"),
    ...others.filter((name) => !isLate(name)),
    ...stored,
    ...others.filter(isLate),
  ]);
}

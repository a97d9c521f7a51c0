import { isDeepStrictEqual } from "node:util";
import type { Document } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import {
  initFields,
  orderFields,
  ownDefaults,
  rawValues,
} from "../schema/mongoose/documents/document_values.ts";
import { setsLate } from "../schema/mongoose/schemas/field_rules.ts";
import { factsOf } from "./document_facts.ts";
import { type StoredObject, storedText } from "../store/values.ts";
import { valuesToStore } from "./stored_values.ts";

export interface StoredResult {
  readonly expected: StoredObject;
  readonly stored: StoredObject;
  /** The version and fields that the projection leaves out of `stored`, which are not compared. */
  readonly others: ReadonlySet<string>;
}

/** Hooks and the answer must show the stored entity, with the changes of other requests. */
export function holdStored(doc: Document, { expected, stored, others }: StoredResult): void {
  const names = new Set([...Object.keys(expected), ...Object.keys(stored)]);
  const changed = [...names].filter((name) =>
    !others.has(name) && doc.isSelected(name) && !isSame(expected[name], stored[name])
  );
  if (changed.length === 0) return;
  factsOf(doc).isChangedByOthers = true;
  const values = valuesToStore(doc);
  const defaults = new Set(ownDefaults(doc));
  // A hook may have removed a value only for the answer, past the change tracking. The value must not return.
  const held = changed.filter((name) => defaults.has(name) || holds(values[name], expected[name]));
  initFields(doc, Object.fromEntries(held.map((name) => [name, stored[name]])));
}

function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || storedText(one) === storedText(other);
}

/**
 * Whether the document still shows a stored value. It may show more, because Mongoose adds defaults and identifiers.
 */
function holds(shown: unknown, stored: unknown): boolean {
  if (stored === undefined) return true;
  if (isJsonObject(stored)) {
    const values: unknown = shown instanceof Map ? Object.fromEntries(shown) : shown;
    return isJsonObject(values) &&
      Object.entries(stored).every(([name, each]) => holds(values[name], each));
  }
  if (!Array.isArray(stored)) return storedText(shown) === storedText(stored);
  return Array.isArray(shown) && shown.length === stored.length &&
    stored.every((each, index) => holds(shown[index], each));
}

/** JSON has the document's order of fields, which `set()` with an object changes. So the stored order is restored. */
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

import type { Document } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { schemaClass } from "../schema/build_schema.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { typesWithin } from "../schema/mongoose/schemas/schema_members.ts";
import { type StoredObject, storedText, valueAt } from "../store/values.ts";
import { existingSnapshot, valuesToStore } from "../write/stored_values.ts";
import type { Additions } from "./additions.ts";
import type { Stamps } from "../store/values.ts";

/**
 * Sets fields such as a time, also in embedded documents that the write adds or changes. Unchanged ones keep their
 * time.
 */
export function stampDocument(doc: object, additions: Additions | undefined): void {
  if (additions === undefined || !isDocument(doc)) return;
  const stored = doc.isNew ? undefined : existingSnapshot(doc)?.values;
  const isKnown = doc.isNew || stored !== undefined;
  stampParts(doc, { stored, isKnown, additions });
  const { target } = additions;
  setStamps(doc, {
    earlier: storedStamps(stored, additions.stamped(target)),
    stamps: additions.stamps({ target, schema: doc.schema }, doc.isNew),
  });
}

interface Stamping {
  readonly stored: unknown;
  /**
   * Whether the stored values are known. Otherwise, Mongoose's change tracking must find changed embedded documents.
   */
  readonly isKnown: boolean;
  readonly additions: Additions;
}

function stampParts(holder: Document, { stored, isKnown, additions }: Stamping): void {
  for (const [path, type] of Object.entries(holder.schema.paths)) {
    // A type with a discriminator's schema has no class, so the search goes on to the type inside.
    const target = typesWithin(type).map(schemaClass).find((each) => each !== undefined);
    if (target === undefined) continue;
    // Mongoose names the values of a Map by its path and "$*".
    const name = path.replace(/\.\$\*$/, "");
    if (stored !== undefined && !holder.isModified(name)) continue;
    const find = finderIn(valueAt(stored, name), additions.stamped(target));
    for (const [key, part] of partsOf(holder.get(name, null, { getters: false }))) {
      stampPart(part, { stored: find(part, key), isKnown, additions, target });
    }
  }
}

function partsOf(value: unknown): (readonly [key: unknown, part: Document])[] {
  const entries: readonly (readonly [unknown, unknown])[] = value instanceof Map
    ? [...value]
    : Array.isArray(value)
    ? [...value.entries()]
    : [[undefined, value]];
  return entries.flatMap(([key, each]) => isDocument(each) ? [[key, each] as const] : []);
}

/** Finds the stored object that an embedded document replaces: by identifier, Map key or equal values. */
function finderIn(
  before: unknown,
  names: readonly string[],
): (part: Document, key: unknown) => unknown {
  if (!Array.isArray(before)) {
    return (_part, key) => key === undefined ? before : valueAt(before, String(key));
  }
  const nameOf = (values: StoredObject) =>
    values._id === undefined ? textWithout(values, names) : storedText(values._id);
  const objects = before.filter(isJsonObject) as StoredObject[];
  // A `Map` keeps the last of equal keys, so reversed elements lead to the first.
  const named = new Map(objects.reverse().map((each) => [nameOf(each), each]));
  return (part) =>
    named.get(nameOf(part._id === undefined ? valuesToStore(part) : { _id: part._id }));
}

function stampPart(
  part: Document,
  { stored, isKnown, additions, target }: Stamping & { readonly target: ModelClass },
): void {
  const before = isJsonObject(stored) ? stored as StoredObject : undefined;
  stampParts(part, { stored: before, isKnown, additions });
  const names = additions.stamped(target);
  if (names.length === 0) return;
  const { schema } = part;
  const isNew = before === undefined && (isKnown || part.isNew);
  const earlier = storedStamps(before, names);
  const isSame = before === undefined
    ? !isNew && !part.isModified()
    : textWithout(valuesToStore(part), names) === textWithout(before, names);
  setStamps(part, { earlier, stamps: isSame ? {} : additions.stamps({ target, schema }, isNew) });
}

/** Neither a client nor a hook can change stored stamps. */
function storedStamps(stored: StoredObject | undefined, names: readonly string[]): Stamps {
  if (stored === undefined) return {};
  return Object.fromEntries(names.map((name) => [name, stored[name]]));
}

function textWithout(values: StoredObject, names: readonly string[]): string {
  return storedText(
    Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name))),
  );
}

function setStamps(
  doc: Document,
  { earlier, stamps }: { readonly earlier: Stamps; readonly stamps: Stamps },
): void {
  for (const [name, value] of Object.entries({ ...earlier, ...stamps })) doc.set(name, value);
  // The sender is written even if it is unchanged, because another request may have stored another since the read.
  for (const name of Object.keys(stamps)) doc.markModified(name);
}

import type { Document } from "mongoose";
import { classOf } from "../schema/build_schema.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { typesWithin } from "../schema/mongoose/schemas/schema_members.ts";
import {
  readSnapshot,
  type StoredObject,
  storedText,
  valueAt,
  valuesToStore,
} from "../write/stored_values.ts";
import type { Stamps, WriteDuties } from "./write_duties.ts";

/**
 * Sets the values that class options store with a write, on a document and on the embedded documents that the write
 * adds or changes. An embedded document that the write replaces by equal values is not changed.
 */
export function stampDocument(doc: Document, duties: WriteDuties): void {
  stampParts(doc, { stored: doc.isNew ? undefined : readSnapshot(doc).values, duties });
  setStamps(doc, duties.stamps({ target: duties.target, schema: doc.schema }, doc.isNew));
}

interface Stamping {
  /** The stored values of the same object before the write. Missing if the write adds the object. */
  readonly stored: unknown;
  readonly duties: WriteDuties;
}

function stampParts(holder: Document, { stored, duties }: Stamping): void {
  for (const [path, type] of Object.entries(holder.schema.paths)) {
    if (!typesWithin(type).some((each) => "schema" in each && each.schema !== undefined)) continue;
    // Mongoose names the values of a Map by the path of the Map and "$*".
    const name = path.replace(/\.\$\*$/, "");
    if (stored !== undefined && !holder.isModified(name)) continue;
    const before = valueAt(stored, name);
    for (const [key, part] of partsOf(holder.get(name, null, { getters: false }))) {
      stampPart(part, { stored: counterpart(part, { key, before }), duties });
    }
  }
}

/** Returns the embedded documents in a value, with the index or the key of each. */
function partsOf(value: unknown): (readonly [key: unknown, part: Document])[] {
  const entries: readonly (readonly [unknown, unknown])[] = value instanceof Map
    ? [...value]
    : Array.isArray(value)
    ? [...value.entries()]
    : [[undefined, value]];
  return entries.flatMap(([key, each]) => isDocument(each) ? [[key, each] as const] : []);
}

/** Returns the stored object that an embedded document replaces, which has the same identifier, key or place. */
function counterpart(
  { _id }: Document,
  { key, before }: { readonly key: unknown; readonly before: unknown },
): unknown {
  if (!Array.isArray(before)) return key === undefined ? before : valueAt(before, String(key));
  if (_id === undefined) return before[key as number];
  const name = storedText(_id);
  return before.find((each) => isJsonObject(each) && storedText(each._id) === name);
}

function stampPart(part: Document, { stored, duties }: Stamping): void {
  const before = isJsonObject(stored) ? stored as StoredObject : undefined;
  stampParts(part, { stored: before, duties });
  const added = stampsFor(part, { duties, isNew: true });
  if (before === undefined) return setStamps(part, added);
  const names = Object.keys(added);
  if (names.length === 0) return;
  const kept = Object.fromEntries(names.map((name) => [name, before[name]]));
  const isSame = textWithout(valuesToStore(part), names) === textWithout(before, names);
  setStamps(part, isSame ? kept : { ...kept, ...stampsFor(part, { duties, isNew: false }) });
}

function textWithout(values: StoredObject, names: readonly string[]): string {
  return storedText(
    Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name))),
  );
}

function stampsFor(
  { schema }: Document,
  { duties, isNew }: { readonly duties: WriteDuties; readonly isNew: boolean },
): Stamps {
  const target = classOf(schema);
  return target === undefined ? {} : duties.stamps({ target, schema }, isNew);
}

function setStamps(doc: Document, stamps: Stamps): void {
  for (const [name, value] of Object.entries(stamps)) doc.set(name, value);
}

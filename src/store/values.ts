import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { StoreFailure } from "../errors/failure.ts";
import { isJsonObject } from "../schema/fields/json.ts";

const { BSON } = mongoose.mongo;

export type StoredObject = Record<string, unknown>;

/** Keeps the BSON types, so that values can be written again. */
export const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
  // The client may have `useBigInt64: true`, which the driver refuses together with `promoteLongs: false`.
  useBigInt64: false,
  raw: false,
} as const;

export function valueAt(stored: unknown, path: string): unknown {
  return path.split(".").reduce((at, name) => {
    if (at instanceof Map) return at.get(name);
    return typeof at === "object" && at !== null && Object.hasOwn(at, name)
      ? at[name as keyof object]
      : undefined;
  }, stored);
}

export function putAt(
  holder: StoredObject,
  { path, value }: { readonly path: string; readonly value: unknown },
): void {
  const names = path.split(".");
  const last = names.pop() as string;
  let at = holder;
  for (const name of names) {
    const inner = Object.hasOwn(at, name) && at[name] !== undefined ? at[name] : {};
    if (!Array.isArray(inner) && !isJsonObject(inner)) {
      throw new StoreFailure({ kind: "changed" });
    }
    at = at[name] = inner as StoredObject;
  }
  if (value === undefined && !Array.isArray(at)) delete at[last];
  else at[last] = value;
}

export function setFields(holder: StoredObject, fields: StoredObject): StoredObject {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) delete holder[name];
    else holder[name] = value;
  }
  return holder;
}

/** A single value becomes a list, as in Mongoose. */
export function storedList(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

export function storedText(value: unknown): string {
  // Decoding drops differences such as the width of a number, so equal values get equal strings.
  const read = BSON.deserialize(BSON.serialize({ value }), { validation: { utf8: false } });
  return Buffer.from(BSON.serialize(read)).toString("base64");
}

/** Fields that class options add to a write, such as a time, already cast. `undefined` removes a field. */
export type Stamps = Readonly<Record<string, unknown>>;

export function operatorsFor(
  stamps: Stamps = {},
): { readonly set: Record<string, unknown>; readonly unset: Record<string, unknown> } {
  const all = Object.entries(stamps);
  const set = all.filter(([, value]) => value !== undefined);
  const unset = all.filter(([, value]) => value === undefined).map(([name]) => [name, 1]);
  return { set: Object.fromEntries(set), unset: Object.fromEntries(unset) };
}

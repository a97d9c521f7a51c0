import type { Document } from "mongoose";
import { rawValues } from "../mapper/internals.ts";

/**
 * Makes the next save of a document count its version, without the condition that the mapper's own `increment()` adds:
 * two updates of different fields both survive.
 *
 * The raw value stays as it was read until the save, as the mapper compares it where array positions change.
 *
 * @returns What to call after the save: the document then tells the version that was written.
 */
export function countVersion(doc: Document): (() => void) | undefined {
  const key = doc.schema.get("versionKey") as string | false | undefined;
  if (typeof key !== "string") return undefined;
  const before = doc.get(key) as number | undefined;
  doc.$inc(key, 1);
  rawValues(doc)[key] = before;
  return () => {
    rawValues(doc)[key] = (before ?? 0) + 1;
    doc.unmarkModified(key);
  };
}

/**
 * Stores the version 0 for a document that has none, because something else has written it: no condition on a version
 * could match it, and none could be counted up.
 */
export async function startVersion(doc: Document): Promise<void> {
  const key = doc.schema.get("versionKey") as string | false | undefined;
  if (doc.isNew || typeof key !== "string" || typeof rawValues(doc)[key] === "number") return;
  const conditions = { ...doc.$where, _id: doc._id, [key]: null };
  await doc.collection.updateOne(conditions as never, { $set: { [key]: 0 } }, {
    session: doc.$session() ?? undefined,
  } as never);
  rawValues(doc)[key] = 0;
}

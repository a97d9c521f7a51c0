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

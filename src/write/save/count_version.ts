import type { Document, Model } from "mongoose";
import { rawValues } from "../../schema/mongoose/documents/raw_values.ts";
import type { Update } from "../apply_update.ts";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import type { PlannedUpdate } from "./fresh_objects.ts";

/**
 * Makes the next save of a document count its version. Mongoose's own `increment()` would add a condition, by which one
 * of two updates of different fields fails.
 *
 * @returns What to call after the save: the document then tells the version that was written.
 */
export function countVersion(doc: Document): (() => void) | undefined {
  const key = versionKey(doc);
  if (key === undefined) return undefined;
  // A hook may have hidden it in the document.
  const kept = keptValues(doc)?.[key];
  const isOdd = kept !== undefined && kept !== null && !isCounted(kept);
  const read = isOdd ? undefined : doc.get(key) as number | undefined;
  const before = typeof kept === "number" ? kept : read;
  doc.$inc(key, 1);
  // Mongoose compares it with the stored one where array positions change.
  rawValues(doc)[key] = before;
  return () => {
    rawValues(doc)[key] = (before ?? 0) + 1;
    doc.unmarkModified(key);
  };
}

/** The field that holds the version of a document, if there is one. */
export function versionKey({ schema }: Document | Model<unknown>): string | undefined {
  const key: unknown = schema.get("versionKey");
  return typeof key === "string" ? key : undefined;
}

interface StoredVersion {
  readonly key: string | undefined;
  readonly version: unknown;
  /** Whether the write must not happen if the version has changed. */
  readonly isTied: boolean;
}

/** Whether the database counts a version on. Other programs may have stored `null`, or a text. */
function isCounted(version: unknown): boolean {
  if (typeof version !== "object" || version === null) {
    return typeof version === "number" || typeof version === "bigint";
  }
  return "_bsontype" in version && NUMBERS.has(version._bsontype);
}

/** What the driver calls its numbers. */
const NUMBERS = new Set<unknown>(["Decimal128", "Double", "Int32", "Long"]);

/** Adds the new version to an update. `$inc` fails on what is no number, so that 1 is set; `{ key: null }` matches a missing version. */
export function countUpdate(
  update: Update,
  { key, version, isTied }: StoredVersion,
): PlannedUpdate {
  if (key === undefined) return { update, conditions: [] };
  const others = without(update, key);
  const isSet = version !== undefined && !isCounted(version);
  const operator = isSet ? "$set" : "$inc";
  const isBound = isSet || (version === undefined && isTied);
  return {
    update: { ...others, [operator]: { ...others[operator], [key]: 1 } },
    conditions: isBound ? [{ [key]: version ?? null }] : [],
  };
}

function without(update: Update, path: string): Update {
  const rest = Object.entries(update).map(([operator, paths]) => {
    const { [path]: _left, ...others } = paths;
    return [operator, others] as const;
  });
  return Object.fromEntries(rest.filter(([, paths]) => Object.keys(paths).length > 0));
}

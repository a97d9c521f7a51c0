import type { Document, Model } from "mongoose";
import { hasNoVersion } from "../../filter/versions.ts";
import { asVersion } from "../../schema/fields/version.ts";
import { rawValues } from "../../schema/mongoose/documents/raw_values.ts";
import type { Update } from "../../schema/mongoose/statements/write_as_is.ts";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import { forgetOddVersion, versionOf } from "../../schema/mongoose/schemas/odd_versions.ts";
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
  const before = (kept === undefined ? versionOf(doc, key) : asVersion(kept)) ?? undefined;
  // Mongoose may have failed to cast it, and could not count it on.
  doc.$markValid(key);
  rawValues(doc)[key] = undefined;
  doc.$inc(key, 1);
  // Mongoose compares it with the stored one where array positions change.
  rawValues(doc)[key] = before;
  return () => {
    rawValues(doc)[key] = (before ?? 0) + 1;
    doc.unmarkModified(key);
    forgetOddVersion(doc);
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
}

/** Adds the new version to an update. `$inc` cannot count what is no number, so that 1 is set. */
export function countUpdate(update: Update, { key, version }: StoredVersion): PlannedUpdate {
  if (key === undefined) return { update, conditions: [] };
  const others = without(update, key);
  const isOdd = version !== undefined && asVersion(version) === null;
  const operator = isOdd ? "$set" : "$inc";
  return {
    update: { ...others, [operator]: { ...others[operator], [key]: 1 } },
    conditions: isOdd ? [hasNoVersion(key)] : [],
  };
}

function without(update: Update, path: string): Update {
  const rest = Object.entries(update).map(([operator, paths]) => {
    const { [path]: _left, ...others } = paths;
    return [operator, others] as const;
  });
  return Object.fromEntries(rest.filter(([, paths]) => Object.keys(paths).length > 0));
}

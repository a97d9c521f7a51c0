import type { Document } from "mongoose";
import { rawValues } from "../../schema/mongoose/internals.ts";
import type { Update } from "../apply_update.ts";
import type { PlannedUpdate } from "./merge_fresh.ts";

/**
 * Makes the next save of a document count its version, without the condition that Mongoose's own `increment()` adds:
 * two updates of different fields both survive.
 *
 * The raw value stays as it was read until the save, as Mongoose compares it where array positions change.
 *
 * @returns What to call after the save: the document then tells the version that was written.
 */
export function countVersion(doc: Document): (() => void) | undefined {
  const key = versionKey(doc);
  if (key === undefined) return undefined;
  const before = doc.get(key) as number | undefined;
  doc.$inc(key, 1);
  rawValues(doc)[key] = before;
  return () => {
    rawValues(doc)[key] = (before ?? 0) + 1;
    doc.unmarkModified(key);
  };
}

/** The field of a document that holds its version; `undefined` where it has none. */
export function versionKey(doc: Document): string | undefined {
  const key = doc.schema.get("versionKey") as string | false | undefined;
  return typeof key === "string" ? key : undefined;
}

/** What {@linkcode countUpdate} needs to know of a stored document. */
export interface StoredVersion {
  /** The field of the version. */
  readonly key: string | undefined;
  /** The version. */
  readonly version: unknown;
  /** Whether the write is tied to the version. */
  readonly bound: boolean;
}

/** Has an update count the version. One that is `null` cannot be counted, and one that is missing cannot be named. */
export function countUpdate(
  update: Update,
  { key, version, bound }: StoredVersion,
): PlannedUpdate {
  if (key === undefined) return { update, conditions: [] };
  const others = without(update, key);
  const operator = version === null ? "$set" : "$inc";
  const isTied = version === null || (version === undefined && bound);
  return {
    update: { ...others, [operator]: { ...others[operator], [key]: 1 } },
    conditions: isTied ? [{ [key]: null }] : [],
  };
}

/** An update but for one path. */
function without(update: Update, path: string): Update {
  const rest = Object.entries(update).map(([operator, paths]) => {
    const { [path]: _left, ...others } = paths;
    return [operator, others] as const;
  });
  return Object.fromEntries(rest.filter(([, paths]) => Object.keys(paths).length > 0));
}

import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { type Filter, hasOneOf, isEmpty } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import { aggregateValues, inCommands } from "../../schema/mongoose/statements/commands.ts";
import { type StoredObject, valueAt } from "../values.ts";

/**
 * Matches if the values at these paths are unchanged. `undefined` means the whole document. The version stands for
 * values that are too large, or that JavaScript may have changed.
 */
export function unchanged(
  all: readonly (Iterable<string> | undefined)[],
  { sameVersion, snapshot: { values, isSent } }: {
    readonly sameVersion: Filter;
    readonly snapshot: { readonly values: StoredObject; readonly isSent: boolean };
  },
): Filter {
  const hasVersion = !isEmpty(sameVersion);
  if (all.includes(undefined)) {
    return hasVersion ? sameVersion : { $expr: sameAsStored("$$ROOT", values) };
  }
  const paths = all.flatMap((each) => [...each ?? []]);
  if (paths.length === 0) return {};
  const same = { $and: paths.map((path) => unchangedAt(path, values)) };
  // A statement has at most 16 MB, including the written values.
  if (hasVersion && mongoose.mongo.BSON.calculateObjectSize(same) > 1024 * 1024) return sameVersion;
  const isCertain = isSent && paths.every((path) => isSentBack(valueAt(values, path)));
  return isCertain || !hasVersion ? same : { $or: [same, sameVersion] };
}

/** Mongoose documents show a missing array as an empty one, so both count as unchanged. */
export function unchangedAt(path: string, stored: Filter): Filter {
  const value = valueAt(stored, path);
  const isMissing = { [path]: { $exists: false } };
  if (value === undefined) return isMissing;
  if (Array.isArray(value) && value.length === 0) {
    return { $or: [{ [path]: { $size: 0 } }, isMissing] };
  }
  // `null` alone would match missing fields and elements of arrays too.
  if (value === null) return { [path]: { $type: "null", $not: { $type: "array" } } };
  return { [path]: { $eq: value } };
}

/**
 * Whether the driver sends a read value back unchanged. JavaScript sorts numeric keys, whose order MongoDB compares,
 * and cannot represent some stored dates and malformed strings.
 */
export function isSentBack(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isSentBack);
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (typeof value === "string") return !value.includes("\ufffd");
  if (!isJsonObject(value)) return true;
  const keys = Object.keys(value);
  return (keys.length < 2 || !keys.some((key) => /^\d+$/.test(key))) &&
    Object.values(value).every(isSentBack);
}

export function unchangedSince(
  root: StoredObject,
  { fields, key }: {
    readonly fields: readonly string[] | undefined;
    readonly key: string | undefined;
  },
): Filter {
  const all =
    fields?.map((field) =>
      Object.hasOwn(root, field)
        ? sameAsStored(`$${field}`, root[field])
        : { $eq: [{ $type: `$${field}` }, "missing"] }
    ) ?? [sameAsStored("$$ROOT", root)];
  const same = { $expr: { $and: all } };
  if (key === undefined || isSentBack(root)) return same;
  return { $or: [same, hasOneOf(key, [asVersion(root[key])])] };
}

function sameAsStored(expression: string, value: unknown): object {
  return { $eq: [expression, { $literal: value }] };
}

/** MongoDB checks values against the scope before they are stored, so no write must be undone. */
export async function checkScope(
  all: readonly StoredObject[],
  { scope, connection }: { readonly scope: Filter; readonly connection: Connection },
): Promise<void> {
  for (const sent of inCommands(all.filter((values) => !isKnownWithin(values, scope)))) {
    const stages = [{ $match: scope }, { $count: "total" }];
    const [found] = await aggregateValues({ connection, values: sent, stages });
    if (Number(found?.total ?? 0) < sent.length) throw new StoreFailure({ kind: "outOfScope" });
  }
}

export function isKnownWithin(values: Filter, scope: Filter): boolean {
  return Object.entries(scope).every(([path, value]) =>
    path === "$and" && Array.isArray(value)
      ? value.every((each) => isKnownWithin(values, each))
      : !path.includes(".") && isEqual(values[path], operandOf(value))
  );
}

function operandOf(value: unknown): unknown {
  return isJsonObject(value) && Object.keys(value).join() === "$eq" ? value.$eq : value;
}

function isEqual(value: unknown, expected: unknown): boolean {
  if (expected === null) return value === undefined || value === null;
  if (expected instanceof mongoose.Types.ObjectId) {
    // `equals()` also accepts strings, which the database would not match.
    return value instanceof mongoose.Types.ObjectId && expected.equals(value);
  }
  return ["string", "number", "boolean"].includes(typeof expected) && value === expected;
}

/** `$type` alone would match an array of objects too. */
export function isObjectAt(path: string): Filter {
  return { [path]: { $type: "object", $not: { $type: "array" } } };
}

/** The error codes of an update whose path leads through a value of another type. */
const LOST_PATH_CODES: ReadonlySet<unknown> = new Set([14, 28]);

/** The update fitted the value that was read, so another request has changed the value. */
export function throwChanged(error: unknown): never {
  throw LOST_PATH_CODES.has(Object(error).code)
    ? new StoreFailure({ kind: "changed" }, error)
    : error;
}

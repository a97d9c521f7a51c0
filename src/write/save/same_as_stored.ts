import type { Filter } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { valueAt } from "../stored_values.ts";

const AT = "$$at";

/** How deep objects are compared member by member: the database refuses conditions that are nested much deeper. */
const MOST_DEPTH = 20;

/** Gives the condition that a path is stored as it was read. To documents, a missing array is an empty one. */
export function unchangedAt(path: string, stored: Filter): Filter {
  const value = valueAt(stored, path);
  const isMissing = { [path]: { $exists: false } };
  if (value === undefined) return isMissing;
  if (Array.isArray(value) && value.length === 0) {
    return { $or: [{ [path]: { $size: 0 } }, isMissing] };
  }
  // `null` alone would match missing fields and elements of lists as well.
  if (value === null) return { [path]: { $type: "null", $not: { $type: "array" } } };
  if (isExact(value)) return { [path]: { $eq: value } };
  return { $expr: sameAsStored(`$${path}`, { value }) };
}

/** Whether a value is the same when it goes back: objects here sort their numeric keys, and bad text is replaced. */
function isExact(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\uFFFD");
  if (Array.isArray(value)) return value.every(isExact);
  if (!isJsonObject(value)) return true;
  const keys = Object.keys(value);
  return (keys.length < 2 || !keys.some((key) => /^\d+$/.test(key))) &&
    Object.values(value).every(isExact);
}

/**
 * Gives the expression that tells whether something is stored as it was read. Objects with numeric keys, whose order is
 * lost here, are compared member by member.
 */
export function sameAsStored(
  expression: unknown,
  { value, depth = 0 }: { readonly value: unknown; readonly depth?: number },
): unknown {
  const comparesWhole = isExact(value) || depth >= MOST_DEPTH;
  const member = (inner: unknown, each: unknown) =>
    sameAsStored(inner, { value: each, depth: depth + 1 });
  if (!comparesWhole && Array.isArray(value)) {
    const members = value.map((each, index) => member({ $arrayElemAt: [AT, index] }, each));
    return holds(expression, { type: "array", size: { $size: AT }, members });
  }
  if (!comparesWhole && isJsonObject(value)) {
    const members = Object.entries(value).map(([key, each]) =>
      member({ $getField: { field: { $literal: key }, input: AT } }, each)
    );
    return holds(expression, { type: "object", size: { $size: { $objectToArray: AT } }, members });
  }
  return { $eq: [expression, { $literal: value }] };
}

interface Holds {
  readonly type: "array" | "object";
  readonly size: unknown;
  readonly members: readonly unknown[];
}

function holds(expression: unknown, { type, size, members }: Holds): unknown {
  const isOfType = { $eq: [{ $type: AT }, type] };
  const same = { $and: [{ $eq: [size, members.length] }, ...members] };
  // The size of another type would be an error.
  return { $let: { vars: { at: expression }, in: { $cond: [isOfType, same, false] } } };
}

import type { Filter } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { valueAt } from "../stored_values.ts";

/** The condition that a path still holds what was read there; `undefined` where no condition can say so exactly. */
export function pin(stored: Filter, path: string): Filter | undefined {
  const value = valueAt(stored, path);
  if (value === undefined) return { [path]: { $exists: false } };
  // `null` alone would match missing fields and elements of lists as well.
  if (value === null) return { [path]: { $type: "null", $not: { $type: "array" } } };
  return isExact(value) ? { [path]: { $eq: value } } : undefined;
}

/** Whether a value is the same when it goes back: objects here sort their numeric keys, and bad text is replaced. */
export function isExact(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\uFFFD");
  if (Array.isArray(value)) return value.every(isExact);
  if (!isJsonObject(value)) return true;
  const keys = Object.keys(value);
  return (keys.length < 2 || !keys.some((key) => /^\d+$/.test(key))) &&
    Object.values(value).every(isExact);
}

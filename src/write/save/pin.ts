import type { Filter } from "../../filter/q/compile_filter.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { storedText } from "../stored_text.ts";

/** The value at a path of a stored object; nothing is found inside lists. */
export function valueAt(stored: unknown, path: string): unknown {
  return path.split(".").reduce(
    (value, key) => isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined,
    stored,
  );
}

/** Whether an array of a stored object is the same in two states of it. One that is missing is shown as an empty one. */
export function isUnchanged(path: string, before: unknown, now: unknown): boolean {
  if (before === now) return true;
  return storedText(valueAt(before, path) ?? []) === storedText(valueAt(now, path) ?? []);
}

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

import { isJsonObject } from "../schema/fields/json.ts";

export type Order = Readonly<Record<string, 1 | -1>>;

/**
 * With these options, the driver keeps sort values exact. A converted value could make the next page repeat or miss
 * entities.
 */
export const SEEK_READ = { promoteValues: false, bsonRegExp: true } as const;

export type SortValues = Readonly<Record<string, unknown>>;

/** With `_id` in the order, no two entities are equal. Keys after it never decide. */
export function totalOrder<D>(order: Readonly<Record<string, D>>): Readonly<Record<string, D | 1>> {
  const keys = Object.keys(order);
  const last = keys.indexOf("_id");
  if (last === -1) return { ...order, _id: 1 };
  return Object.fromEntries(Object.entries(order).slice(0, last + 1));
}

export function sortValues(stored: object, paths: readonly string[]): SortValues {
  return Object.fromEntries(paths.map((path) => [path, sortValueAt(stored, path)]));
}

/** MongoDB sorts a missing value as `null`. */
export function sortValueAt(stored: unknown, path: string): unknown {
  return valueBelow(stored, path.split("."));
}

function valueBelow(value: unknown, [name, ...names]: readonly string[]): unknown {
  if (name === undefined) return value ?? null;
  if (Array.isArray(value)) return value.map((each) => valueBelow(each, [name, ...names]));
  return isJsonObject(value) && Object.hasOwn(value, name) ? valueBelow(value[name], names) : null;
}

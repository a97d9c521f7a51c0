import { isJsonObject } from "../../schema/fields/json.ts";

/** Options of the driver that keep the type, the digits and the flags of each value that `seek()` compares with. */
export const SEEK_READ = { promoteValues: false, bsonRegExp: true } as const;

/** Gives the value of a stored entity that decides where it stands in an order. */
export function valueAt(stored: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = stored;
  for (const key of path.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return null;
    value = value[key];
  }
  // What BSON calls undefined stands where an empty array stands.
  return value === undefined ? [] : value;
}

import { isCompiled } from "./compiled.ts";
import { isJsonObject } from "../../schema/fields/json.ts";

/** Operators that the database refuses for no value. */
const SAFE = new Set(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists"]);

/** Tells whether a filter holds a condition of the client's that the database may refuse. */
export function mayBeRefused(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(mayBeRefused);
  if (!isJsonObject(filter)) return false;
  if (isCompiled(filter) && Object.keys(filter).some((key) => !SAFE.has(key))) return true;
  return Object.values(filter).some(mayBeRefused);
}

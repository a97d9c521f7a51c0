import { isJsonObject } from "../../schema/fields/json.ts";
import { isCompiled } from "./compiled.ts";
import { OPERATORS } from "./operators.ts";

/** Tells whether a filter holds a condition of the client's that the database may refuse. */
export function mayBeRefused(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(mayBeRefused);
  if (!isJsonObject(filter)) return false;
  const isUnsafe = (key: string) => OPERATORS.get(key)?.isSafe !== true;
  if (isCompiled(filter) && Object.keys(filter).some(isUnsafe)) return true;
  return Object.values(filter).some(mayBeRefused);
}

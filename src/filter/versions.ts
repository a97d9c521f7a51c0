import type { Version } from "../schema/fields/system_fields.ts";
import type { Filter } from "./filters.ts";
import { markCompiled } from "./filters.ts";

/** The condition that a document has one of some versions; `null` stands for none. */
export function hasOneOf(key: string, versions: readonly Version[]): Filter {
  return { [key]: markCompiled({ $in: [...versions] }) };
}

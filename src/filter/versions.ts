import { VERSION_BITS } from "../schema/fields/system_fields.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import type { Filter } from "./filters.ts";
import { markCompiled } from "./filters.ts";

/** The database has whole numbers of 64 bits; those above a version's are clear in no fraction and in nothing negative. */
const HIGH_BITS = Array.from({ length: 64 - VERSION_BITS }, (_, index) => VERSION_BITS + index);

/** Types whose values could equal a number, or have its bits. */
const NO_VERSION = { $not: { $type: ["array", "binData", "decimal"] } } as const;

export function hasVersion(key: string): Filter {
  return { [key]: markCompiled({ $bitsAllClear: HIGH_BITS, ...NO_VERSION }) };
}

/** The condition that a document has no version, whatever is stored under its name. */
export function hasNoVersion(key: string): Filter {
  return { $nor: [hasVersion(key)] };
}

export function hasOneOf(key: string, versions: readonly Version[]): Filter {
  const numbers = versions.filter((version) => version !== null);
  const counted = { [key]: markCompiled({ $in: numbers, ...NO_VERSION }) };
  if (!versions.includes(null)) return counted;
  return numbers.length === 0 ? hasNoVersion(key) : { $or: [counted, hasNoVersion(key)] };
}

import { isClause } from "./filters.ts";
import type { Filter } from "./filters.ts";

/** The top-level fields that a filter reads; `undefined` where it may read all of them, as `$expr` does. */
export function fieldsRead(filter: Filter): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  return collect(filter, fields) ? fields : undefined;
}

function collect(filter: Filter, fields: Set<string>): boolean {
  return Object.entries(filter).every(([key, value]) => {
    if (key.startsWith("$")) {
      return isClause(key) && Array.isArray(value) && value.every((each) => collect(each, fields));
    }
    fields.add(topOf(key));
    return true;
  });
}

export function topOf(path: string): string {
  const end = path.indexOf(".");
  return end < 0 ? path : path.slice(0, end);
}

import type { Filter } from "./q/compile_filter.ts";

/**
 * Tells which top-level fields a filter reads; `undefined` where it may read all of them, as `$expr` does. What such a
 * filter asks cannot be asked inside another document.
 */
export function fieldsRead(filter: Filter): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  return collect(filter, fields) ? fields : undefined;
}

function collect(filter: Filter, fields: Set<string>): boolean {
  return Object.entries(filter).every(([key, value]) => {
    if (!key.startsWith("$")) fields.add(topOf(key));
    else if (key === "$and" || key === "$or" || key === "$nor") {
      return Array.isArray(value) && value.every((each) => collect(each as Filter, fields));
    } else return false;
    return true;
  });
}

/** The first name of a path. */
export function topOf(path: string): string {
  const end = path.indexOf(".");
  return end < 0 ? path : path.slice(0, end);
}

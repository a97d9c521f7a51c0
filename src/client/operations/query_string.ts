import { toJson } from "../sending/to_json.ts";
import type { AnyOptions } from "./any_options.ts";

/** Writes options as the parameters of a URL, with the question mark. Those of a next page take their place. */
export function queryString(options: AnyOptions, next: string | undefined): string {
  const { q, select, populate, sort, search, limit, skip, after, parameters } = options;
  const values = next !== undefined ? {} : {
    q: q === undefined ? undefined : toJson(q, "q"),
    select: listOf(select),
    populate: listOf(Array.isArray(populate) ? populate : Object.keys(populate ?? {})),
    sort: listOf(sort),
    ...{ search, limit, skip, after },
  };
  const query = new URLSearchParams(next);
  for (const [name, value] of [...Object.entries(values), ...Object.entries(parameters ?? {})]) {
    if (value !== undefined && !query.has(name)) query.set(name, String(value));
  }
  const text = String(query);
  return text && `?${text}`;
}

/** Joins names. No names are no parameter. */
function listOf(names: readonly string[] | undefined): string | undefined {
  return names?.join() || undefined;
}

import { toJson } from "../sending/to_json.ts";
import type { AnyOptions } from "./any_options.ts";

/** Writes options as the parameters of a URL, with the question mark. Those of a next page take their place. */
export function queryString(options: AnyOptions, next: string | undefined): string {
  const { q, populate, by: group, parameters = {} } = options;
  const { select, sort, sum, avg, search, limit, skip, after } = options;
  const values = next !== undefined ? {} : {
    q: q === undefined ? undefined : toJson(q, "q"),
    ...{ select, populate: Array.isArray(populate) ? populate : Object.keys(populate ?? {}) },
    ...{ sort, group, sum, avg, search, limit, skip, after },
  };
  const query = new URLSearchParams(next);
  for (const [name, value] of [...Object.entries(values), ...Object.entries(parameters)]) {
    // No names are no parameter
    const isGiven = value !== undefined && [value].flat().length;
    if (isGiven && !query.has(name)) query.set(name, String(value));
  }
  const text = String(query);
  return text && `?${text}`;
}

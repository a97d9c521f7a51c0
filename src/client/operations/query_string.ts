import { toJson } from "../sending/to_json.ts";
import type { AnyOptions } from "./any_options.ts";

/**
 * The parameters in `next` replace all options except `parameters`, because they contain the options of the first page.
 */
export function queryString(options: AnyOptions, next: string | undefined): string {
  const { q, populate, by: group, parameters = {} } = options;
  const { select, sort, sum, avg, search, limit, skip, after, names, trash, timeZone: tz } =
    options;
  const values = next !== undefined ? {} : {
    q: q === undefined ? undefined : toJson(q, "q"),
    select,
    populate: Array.isArray(populate) ? populate : Object.keys(populate ?? {}),
    sort,
    group,
    sum,
    avg,
    search,
    limit,
    skip,
    after,
    names,
    trash,
    tz,
  };
  const query = new URLSearchParams(next);
  for (const [name, value] of [...Object.entries(values), ...Object.entries(parameters)]) {
    // An empty list adds no parameter.
    const isGiven = value !== undefined && [value].flat().length;
    if (isGiven && !query.has(name)) query.set(name, String(value));
  }
  const text = String(query);
  return text && `?${text}`;
}

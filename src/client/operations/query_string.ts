import { toJson } from "../sending/to_json.ts";
import type { AnyOptions } from "./any_options.ts";

/** Writes options as the parameters of a URL, with the question mark. */
export function queryString(options: AnyOptions): string {
  const { q, select, populate, sort, search, limit, skip, after, next, parameters } = options;
  const values = next !== undefined ? {} : {
    q: q && toJson(q),
    select: select?.join(),
    populate: populate && (Array.isArray(populate) ? populate : Object.keys(populate)).join(),
    sort: sort?.join(),
    ...{ search, limit, skip, after },
  };
  const query = new URLSearchParams(next);
  for (const [name, value] of Object.entries({ ...values, ...parameters })) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = String(query);
  return text && `?${text}`;
}

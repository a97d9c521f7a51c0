import type { PluginRequest } from "./plugin.ts";

/** By the request. The requests in a batch have copies of its headers, from which the same names are removed. */
const hidden = new WeakMap<object, readonly string[]>();

/**
 * Removes headers of a request, so that hooks, `onError` and logs do not see them.
 *
 * @param req The request that `admit` gets.
 * @param names The names of the headers.
 */
export function hideHeaders(req: PluginRequest, names: readonly string[]): void {
  const all = names.map((name) => name.toLowerCase());
  hidden.set(req, [...hiddenIn(req), ...all]);
  // Node builds `headers` and `headersDistinct` from all `rawHeaders` when they are read first.
  for (const headers of [req.headers, req.headersDistinct]) {
    for (const name of all) Reflect.deleteProperty(headers, name);
  }
  const isHidden = (name = "") => all.includes(name.toLowerCase());
  req.rawHeaders = req.rawHeaders.filter((_, index, raw) => !isHidden(raw[index - index % 2]));
}

export function hiddenIn(req: object): readonly string[] {
  return hidden.get(req) ?? [];
}

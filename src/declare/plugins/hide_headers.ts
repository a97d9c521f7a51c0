import type { PluginRequest } from "./plugin.ts";

/**
 * The hidden headers of each request. A request in a batch has a copy of the headers, from which they are removed too.
 */
const hidden = new WeakMap<object, readonly string[]>();

/**
 * Removes headers by their names from the request that `admit` gets, so that hooks, `onError` and logs do not see them.
 */
export function hideHeaders(req: PluginRequest, names: readonly string[]): void {
  const all = names.map((name) => name.toLowerCase());
  hidden.set(req, [...hiddenIn(req), ...all]);
  // Node builds these objects from `rawHeaders` when they are read first, and would throw if `rawHeaders` were shorter
  // by then.
  for (const headers of [req.headers, req.headersDistinct]) {
    for (const name of all) Reflect.deleteProperty(headers, name);
  }
  const isHidden = (name = "") => all.includes(name.toLowerCase());
  req.rawHeaders = req.rawHeaders.filter((_, index, raw) => !isHidden(raw[index - index % 2]));
}

export function hiddenIn(req: object): readonly string[] {
  return hidden.get(req) ?? [];
}

import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { queryOf } from "../../filter/query_string.ts";
import { pathOf } from "./reply.ts";

/** The property that marks a request whose parameters came in its body, by the method `QUERY`. */
const IN_BODY = Symbol("mongrove parameters in the body");

/**
 * Marks a request whose parameters came in its body, so that the URLs in the header `Link` of its answer do not repeat
 * them. A URL with a long filter would not fit into a header.
 */
export function markBodyParameters(req: FrameworkRequest): void {
  Reflect.set(req, IN_BODY, true);
}

/**
 * Returns the URL of a request with other values of some parameters, for the header `Link`. A parameter with the value
 * `undefined` is left out. If the parameters came in a body, the URL has only the given values.
 */
export function linkUrl(
  req: FrameworkRequest,
  changes: Readonly<Record<string, number | string | undefined>>,
): string {
  const isInBody = Reflect.get(req, IN_BODY) === true;
  const parameters = new URLSearchParams(isInBody ? "" : queryOf(req.url));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  const query = parameters.size === 0 ? "" : `?${parameters}`;
  return `${pathOf(req).replace(/[<>"\s]/g, encodeURIComponent) || "/"}${query}`;
}

import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { queryOf } from "../../filter/query_string.ts";
import { pathOf } from "./response.ts";

const IN_BODY = Symbol("mongrove parameters in the body");

/** A URL with a long filter would not fit into `Link`, so parameters of a body are not repeated. */
export function markBodyParameters(req: FrameworkRequest): void {
  Reflect.set(req, IN_BODY, true);
}

export function hasBodyParameters(req: FrameworkRequest): boolean {
  return Reflect.get(req, IN_BODY) === true;
}

export function linkUrl(
  req: FrameworkRequest,
  changes: Readonly<Record<string, number | string | undefined>>,
): string {
  const parameters = new URLSearchParams(hasBodyParameters(req) ? "" : queryOf(req.url));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  const query = parameters.size === 0 ? "" : `?${parameters}`;
  return `${pathOf(req).replace(/[<>"\s]/g, encodeURIComponent) || "/"}${query}`;
}

import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { queryOf } from "../../filter/query_string.ts";
import { pathOf } from "./response.ts";

const IN_BODY = Symbol("mongrove parameters in the body");

/** `Link` does not repeat the parameters of a `QUERY` body, because a long URL would not fit. */
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

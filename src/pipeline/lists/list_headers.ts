import { queryOf } from "../../filter/parameters/read_rules.ts";
import type { FoundPage, PageRead } from "../../sources/source.ts";
import type { OpenLevelContext } from "../request/request_context.ts";
import { pathOf } from "../request/reply.ts";
import { cursorBehind } from "./page_cursor.ts";

interface ListPage {
  readonly found: FoundPage;
  readonly read: PageRead;
}

/** Returns the headers of a list, with the counted total and with links to the other pages. */
export function listHeaders(
  context: OpenLevelContext,
  { counted, page }: { readonly counted: number | undefined; readonly page?: ListPage },
): Readonly<Record<string, string>> {
  const { params, level: { reads } } = context;
  const varied = [
    ...reads?.count?.always === false ? ["Prefer"] : [],
    ...reads?.formats ? ["Accept"] : [],
  ];
  const links = page === undefined ? [] : linksOf(context, page);
  return {
    ...varied.length > 0 && { Vary: varied.join(", ") },
    ...params.count && counted !== undefined && {
      ...params.count.preferred && { "Preference-Applied": "count=exact" },
      ...totalHeaders(counted <= params.count.upTo ? counted : undefined, page),
    },
    ...links.length > 0 && { Link: links.join(", ") },
  };
}

/**
 * Returns the headers with the total and the range of a page. If the total is above the counting limit, the headers do
 * not contain it. A page after a cursor has no range, because its position in the list is unknown.
 */
function totalHeaders(count: number | undefined, page: ListPage | undefined) {
  const { skip = 0, afterCursor: behind } = page?.read ?? {};
  const size = page?.found.size ?? 0;
  const range = size > 0 && behind === undefined ? `${skip}-${skip + size - 1}` : "*";
  return {
    ...(count !== undefined || range !== "*") &&
      { "Content-Range": `items ${range}/${count ?? "*"}` },
    ...count !== undefined && { "X-Total-Count": String(count) },
  };
}

function linksOf(
  context: OpenLevelContext,
  { found, read: { skip, afterCursor: behind, limit } }: ListPage,
): string[] {
  const links: string[] = [];
  const add = (rel: string, changes: Record<string, number | string | undefined>) =>
    links.push(`<${urlWith(context, changes)}>; rel="${rel}"`);
  const after = found.more && skip === 0 ? cursorBehind(context, found) : undefined;
  if (after !== undefined) add("next", { after, skip: undefined });
  else if (found.more && behind === undefined) add("next", { skip: skip + found.read });
  if (skip > 0) {
    add("prev", { skip: Math.max(0, skip - limit) || undefined });
    add("first", { skip: undefined });
  }
  return links;
}

function urlWith(
  { req }: OpenLevelContext,
  changes: Record<string, number | string | undefined>,
): string {
  const parameters = new URLSearchParams(queryOf(req.url));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  const query = parameters.size === 0 ? "" : `?${parameters}`;
  return `${pathOf(req).replace(/[<>"\s]/g, encodeURIComponent) || "/"}${query}`;
}

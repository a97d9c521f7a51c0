import type { FoundPage, PageRead } from "../../sources/source.ts";
import type { OpenLevel } from "../request/call.ts";
import { pathOf } from "../request/reply.ts";
import { cursorBehind } from "./page_cursor.ts";

/** The total of a list; without a number, there are more entities than are counted. */
export interface Total {
  readonly count: number | undefined;
}

type Headers = Readonly<Record<string, string>>;

export interface PageHeadersOptions {
  readonly total: Total | undefined;
  readonly found: FoundPage;
  readonly read: PageRead;
}

export function pageHeaders(
  at: OpenLevel,
  { total, found, read }: PageHeadersOptions,
): Headers {
  const { skip, behind } = read;
  const { size } = found;
  const isKnown = size > 0 && behind === undefined;
  const range = isKnown ? `${skip}-${skip + size - 1}` : undefined;
  const links = linksOf(at, { found, read });
  return {
    ...totalHeaders(at, { total, range }),
    ...links.length > 0 && { Link: links.join(", ") },
  };
}

export function totalHeaders(
  { asked, level: { reads } }: OpenLevel,
  { total, range = "*" }: {
    readonly total: Total | undefined;
    readonly range?: string | undefined;
  },
): Headers {
  const varied = [
    ...reads?.count?.always === false ? ["Prefer"] : [],
    ...reads?.formats ? ["Accept"] : [],
  ];
  const vary = varied.length > 0 && { Vary: varied.join(", ") };
  if (total === undefined) return { ...vary };
  const { count } = total;
  return {
    ...vary,
    ...asked.count?.preferred && { "Preference-Applied": "count=exact" },
    ...(count !== undefined || range !== "*") &&
      { "Content-Range": `items ${range}/${count ?? "*"}` },
    ...count !== undefined && { "X-Total-Count": String(count) },
  };
}

function linksOf(
  at: OpenLevel,
  { found, read: { skip, behind, limit } }: Omit<PageHeadersOptions, "total">,
): string[] {
  const links: string[] = [];
  const add = (rel: string, changes: Record<string, number | string | undefined>) =>
    links.push(`<${urlWith(at, changes)}>; rel="${rel}"`);
  const after = found.more && skip === 0 ? cursorBehind(at, found) : undefined;
  if (after !== undefined) add("next", { after, skip: undefined });
  else if (found.more && behind === undefined) add("next", { skip: skip + found.read });
  if (skip > 0) {
    add("prev", { skip: Math.max(0, skip - limit) || undefined });
    add("first", { skip: undefined });
  }
  return links;
}

function urlWith({ req }: OpenLevel, changes: Record<string, number | string | undefined>): string {
  const start = req.url.indexOf("?");
  const parameters = new URLSearchParams(start === -1 ? "" : req.url.slice(start + 1));
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  const query = parameters.size === 0 ? "" : `?${parameters}`;
  return `${pathOf(req).replace(/[<>"\s]/g, encodeURIComponent) || "/"}${query}`;
}

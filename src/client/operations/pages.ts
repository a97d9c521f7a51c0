import type { Incoming } from "../sending/send_request.ts";

/**
 * A page of a list, as `all()` returns it.
 *
 * @typeParam T An entity.
 */
export interface Page<T> {
  /** The entities of the page in the order of the list. */
  readonly items: T[];
  /** The number of entities on all pages, if the server has counted them. */
  readonly total: number | undefined;
  /** The option `next` of `all()` that reads the next page, or `undefined` on the last page. */
  readonly next: string | undefined;
}

export function readPage({ headers, body, sent }: Incoming): Page<object> {
  const [, total] = /\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const count = headers.get("x-total-count") ?? total;
  return {
    items: body as object[],
    total: count ? Number(count) : undefined,
    next: nextOf(headers.get("link") ?? "", sent),
  };
}

/**
 * The query parameters of the next page. The path of the link is ignored, because a server behind a proxy may write a
 * path that clients cannot call. The link lacks the parameters in the body of a `QUERY` request, so they are added.
 */
function nextOf(link: string, sent: string | undefined): string | undefined {
  const [, target] = /<([^<>]*)>\s*;[^<]*\brel="?next\b/.exec(link) ?? [];
  const next = target?.replace(/^[^?]*\??/, "");
  if (next === undefined || sent === undefined) return next;
  const query = new URLSearchParams(sent);
  query.delete("skip");
  new URLSearchParams(next).forEach((value, name) => query.set(name, value));
  return String(query);
}

import type { Incoming } from "../sending/send_request.ts";

/**
 * A page of a list.
 *
 * @typeParam T An entity.
 */
export interface Page<T> {
  /** The entities. */
  readonly items: T[];
  /** How many entities there are on all pages, if the server tells. */
  readonly total: number | undefined;
  /** Where the next page is: the option `next` of `all()`. `undefined` if there is none. */
  readonly next: string | undefined;
}

export function readPage({ headers, body }: Incoming): Page<object> {
  const [, total] = /\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  const count = headers.get("x-total-count") ?? total;
  return {
    items: body as object[],
    total: count === undefined ? undefined : Number(count),
    next: nextOf(headers.get("link") ?? ""),
  };
}

/**
 * Gives the parameters of the next page. The path of a list stays the same, so a link that names another one, such as
 * that of a server behind a proxy, leads nowhere else.
 */
function nextOf(link: string): string | undefined {
  const [, target] = /<([^<>]*)>\s*;[^<]*\brel="?next\b/.exec(link) ?? [];
  return target?.replace(/^[^?]*\??/, "");
}

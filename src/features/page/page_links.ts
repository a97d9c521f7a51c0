import { hasBodyParameters, linkUrl } from "../../pipeline/request/link_url.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { FoundPage, PageRead } from "../../sources/source.ts";
import { cursorBehind } from "./page_cursor.ts";

export function linksOf(
  context: OpenLevelContext,
  { found, read: { skip, afterCursor: behind, limit } }: {
    readonly found: FoundPage;
    readonly read: PageRead;
  },
): string[] {
  const links: string[] = [];
  const add = (rel: string, changes: Record<string, number | string | undefined>) =>
    links.push(`<${linkUrl(context.req, changes)}>; rel="${rel}"`);
  const after = found.more && skip === 0 ? cursorBehind(context, found) : undefined;
  if (after !== undefined) add("next", { after, skip: undefined });
  else if (found.more && behind === undefined) add("next", { skip: skip + found.read });
  if (skip > 0) {
    // A link of `QUERY` has only the changes of the body, so it cannot leave out the parameter.
    const none = hasBodyParameters(context.req) ? 0 : undefined;
    add("prev", { skip: Math.max(0, skip - limit) || none });
    add("first", { skip: none });
  }
  return links;
}

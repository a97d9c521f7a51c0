import { gatherList, joinPage } from "./gather_list.ts";
import { mapInOrder } from "./map_in_order.ts";
import { fetchEntities } from "../fetch.ts";
import { showEntity } from "../read.ts";
import { listTexts } from "../references/written.ts";
import type { OpenLevel } from "../request/call.ts";
import { isOver } from "../request/reply.ts";
import type { Reply } from "../request/reply.ts";
import { runDirect } from "../run_direct.ts";
import { fillPage, openPage } from "./page.ts";
import { pageHeaders, totalHeaders } from "./list_headers.ts";
import type { Total } from "./list_headers.ts";

/** Answers with a list, or with a page of it. */
export async function readList(acting: OpenLevel): Promise<Reply> {
  const total = countTotal(acting);
  // Whatever fails first is answered.
  total.catch(() => {});
  const { page } = acting.asked;
  if (page === undefined) {
    const headers = totalHeaders(acting, { total: await total });
    return { headers, ...await readWhole(acting) };
  }
  const read = await openPage(acting, page);
  const result = await runDirect(acting, { page: read });
  const found = result?.page ?? await fillPage(acting, read);
  const headers = pageHeaders(acting, { total: await total, found, read });
  return { status: 200, gathered: [joinPage(found.texts)], headers };
}

/** Counts what a list selects, if the client asks for it and may know it. */
async function countTotal({ asked: { count }, source }: OpenLevel): Promise<Total | undefined> {
  if (count === undefined) return undefined;
  const { upTo } = count;
  const counted = await source.count(upTo === Infinity ? undefined : upTo + 1);
  return { count: counted <= upTo ? counted : undefined };
}

/** Each entity passes `postFetch` and `preSend`, and only its JSON text is kept. */
async function readWhole(acting: OpenLevel): Promise<Reply> {
  const result = await runDirect(acting, {});
  if (result !== undefined) return { status: 200, ...result };
  const { hooks } = acting.level;
  const shown = mapInOrder(whileAwaited(acting), (entity) => showEntity(acting, entity));
  const texts = listTexts(acting, shown);
  if (hooks.postFetch === undefined && hooks.preSend === undefined) {
    return { status: 200, texts: joined(texts) };
  }
  return { status: 200, gathered: await gatherList(texts) };
}

/** Reads on as long as the client waits. */
async function* whileAwaited(acting: OpenLevel): AsyncGenerator<readonly object[]> {
  for await (const entities of fetchEntities(acting)) {
    if (isOver(acting.req)) return;
    yield entities;
  }
}

async function* joined(lists: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const texts of lists) yield texts.join(",");
}

import {
  enclosed,
  type JsonPiece,
  PIECE_BYTES,
  type Separator,
} from "../../json/bytes/json_writer.ts";
import type { CountRead, EntitiesRead, FoundPage, PageRead } from "../../sources/source.ts";
import { inBatches, joinedTexts, showEntity } from "../read.ts";
import { openRead } from "../fetch.ts";
import { type OpenLevelContext, separatorOf } from "../request/request_context.ts";
import { isOver, type Reply } from "../request/reply.ts";
import { columnsOf } from "./columns.ts";
import { readGroups } from "./read_groups.ts";
import { listHeaders } from "./list_headers.ts";
import { mapInOrder } from "./map_in_order.ts";
import { fillPage, planPage } from "./page.ts";

export async function readList(context: OpenLevelContext): Promise<Reply> {
  const { format, groups } = context.params;
  if (groups !== undefined) return await readGroups(context, groups);
  const reply = await readEntities(context);
  return { ...reply, format, ...format === "csv" && { columns: columnsOf(context) } };
}

async function readEntities(context: OpenLevelContext): Promise<Reply> {
  const { page } = context.params;
  if (page === undefined) {
    const headers = listHeaders(context, { counted: await count(context) });
    return { headers, ...await readWhole(context) };
  }
  const part = await planPage(context, page);
  const found = await readPage(context, part);
  const headers = listHeaders(context, { counted: found.total, page: { found, read: part } });
  return { status: 200, gathered: [found.text], headers };
}

async function readPage(context: OpenLevelContext, page: PageRead): Promise<FoundPage> {
  const read = await openRead(context);
  if (read.kind === "bytes") return await read.page(page, countOf(context));
  const total = count(context);
  // If the read fails first, nothing else handles a failure of the count, and the process would report an unhandled
  // rejection.
  total.catch(() => {});
  return { ...await fillPage(context, { read, page }), total: await total };
}

/**
 * Counts the entities that a list selects, if the client requests the total and may see it. Returns `undefined` in any
 * other case, so that the answer has no total.
 */
async function count(context: OpenLevelContext): Promise<number | undefined> {
  const asked = countOf(context);
  return asked && await context.source.count(asked.limit);
}

/**
 * Returns the options for counting a list, or `undefined` if the total is not requested. One entity above the limit
 * shows that the total is larger than the limit.
 */
function countOf({ params: { count } }: OpenLevelContext): CountRead | undefined {
  return count && (count.upTo === Infinity ? {} : { limit: count.upTo + 1 });
}

/**
 * Reads a list without pages. Each entity passes `postFetch` and `preSend`, and only its JSON text is kept, so that the
 * entities need not stay in memory.
 */
async function readWhole(context: OpenLevelContext): Promise<Reply> {
  const read = await openRead(context);
  if (read.kind === "bytes") return { status: 200, texts: read.list() };
  const { hooks } = context.level;
  const shown = mapInOrder(whileAwaited(context, read), (entity) => showEntity(context, entity));
  const texts = textsOf(context, shown);
  if (hooks.postFetch === undefined && hooks.preSend === undefined) {
    return { status: 200, texts: joined(texts, separatorOf(context)) };
  }
  return { status: 200, gathered: await gatherList(texts, separatorOf(context)) };
}

/**
 * Reads entities until the client disconnects or the response has ended, because nothing needs the rest of the list.
 */
async function* whileAwaited(
  context: OpenLevelContext,
  read: EntitiesRead,
): AsyncGenerator<readonly object[]> {
  for await (const entities of read.list()) {
    if (isOver(context.req)) return;
    yield entities;
  }
}

async function* textsOf(
  context: OpenLevelContext,
  lists: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  for await (const values of inBatches(context, lists)) yield await joinedTexts(context, values);
}

async function* joined(
  texts: AsyncIterable<string>,
  separator: Separator,
): AsyncGenerator<JsonPiece> {
  let begun = false;
  for await (const text of texts) {
    if (begun) yield separator;
    begun = true;
    yield text;
  }
}

async function gatherList(
  texts: AsyncIterable<string>,
  separator: Separator,
): Promise<JsonPiece[]> {
  const chunks: JsonPiece[] = [];
  let held: string[] = [];
  let size = 0;
  const flush = () => {
    const open = chunks.length === 0 ? "" : separator;
    chunks.push(enclosed(held.join(separator), { open }));
    held = [];
    size = 0;
  };
  for await (const text of texts) {
    if (size >= PIECE_BYTES) flush();
    held.push(text);
    size += text.length;
  }
  flush();
  return chunks;
}

import { enclosed, type JsonPiece, type Separator } from "../../json/bytes/json_writer.ts";
import type { CountRead, EntitiesRead, FoundPage, PageRead } from "../../sources/source.ts";
import { inBatches, joinedTexts, showEntity } from "../read.ts";
import { openRead } from "../fetch.ts";
import { type OpenLevel, separatorOf } from "../request/call.ts";
import { isOver, type Reply } from "../request/reply.ts";
import { columnsOf } from "./columns.ts";
import { readGroups } from "./read_groups.ts";
import { listHeaders } from "./list_headers.ts";
import { mapInOrder } from "./map_in_order.ts";
import { fillPage, planPage } from "./page.ts";

export async function readList(acting: OpenLevel): Promise<Reply> {
  const { format, groups } = acting.asked;
  if (groups !== undefined) return await readGroups(acting, groups);
  const reply = await readEntities(acting);
  return { ...reply, format, ...format === "csv" && { columns: columnsOf(acting) } };
}

async function readEntities(acting: OpenLevel): Promise<Reply> {
  const { page } = acting.asked;
  if (page === undefined) {
    const headers = listHeaders(acting, { counted: await count(acting) });
    return { headers, ...await readWhole(acting) };
  }
  const part = await planPage(acting, page);
  const found = await readPage(acting, part);
  const headers = listHeaders(acting, { counted: found.total, page: { found, read: part } });
  return { status: 200, gathered: [found.text], headers };
}

async function readPage(acting: OpenLevel, page: PageRead): Promise<FoundPage> {
  const read = await openRead(acting);
  if (read.kind === "bytes") return await read.page(page, countOf(acting));
  const total = count(acting);
  // Whatever fails first is answered.
  total.catch(() => {});
  return { ...await fillPage(acting, { read, page }), total: await total };
}

/** Counts what a list selects, if the client asks for it and may know it. */
async function count(acting: OpenLevel): Promise<number | undefined> {
  const asked = countOf(acting);
  return asked && await acting.source.count(asked.limit);
}

/** One entity more tells that there are more than are counted. */
function countOf({ asked: { count } }: OpenLevel): CountRead | undefined {
  return count && (count.upTo === Infinity ? {} : { limit: count.upTo + 1 });
}

/** Each entity passes `postFetch` and `preSend`, and only its JSON text is kept. */
async function readWhole(acting: OpenLevel): Promise<Reply> {
  const read = await openRead(acting);
  if (read.kind === "bytes") return { status: 200, texts: read.list() };
  const { hooks } = acting.level;
  const shown = mapInOrder(whileAwaited(acting, read), (entity) => showEntity(acting, entity));
  const texts = textsOf(acting, shown);
  if (hooks.postFetch === undefined && hooks.preSend === undefined) {
    return { status: 200, texts: joined(texts, separatorOf(acting)) };
  }
  return { status: 200, gathered: await gatherList(texts, separatorOf(acting)) };
}

/** Reads on as long as the client waits. */
async function* whileAwaited(
  acting: OpenLevel,
  read: EntitiesRead,
): AsyncGenerator<readonly object[]> {
  for await (const entities of read.list()) {
    if (isOver(acting.req)) return;
    yield entities;
  }
}

async function* textsOf(
  at: OpenLevel,
  lists: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  for await (const values of inBatches(at, lists)) yield await joinedTexts(at, values);
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

const CHUNK = 64 * 1024;

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
    if (size >= CHUNK) flush();
    held.push(text);
    size += text.length;
  }
  flush();
  return chunks;
}

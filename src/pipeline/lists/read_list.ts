import {
  enclosed,
  type JsonPiece,
  PIECE_BYTES,
  type Separator,
} from "../../json/bytes/json_writer.ts";
import type { EntitiesRead, FoundPage, PageRead } from "../../sources/source.ts";
import { concatenatedTexts, inBatches, showEntity } from "../read.ts";
import { prepareRead } from "../fetch.ts";
import { type OpenLevelContext, separatorOf } from "../request/request_context.ts";
import type { ListAnswer } from "../request/answer.ts";
import { isOver } from "../request/response.ts";
import { mapInOrder } from "../../sources/lists/map_in_order.ts";
import { fillWindow } from "./fill_window.ts";

export async function readList(context: OpenLevelContext): Promise<ListAnswer> {
  const { window, frame } = context.pieces;
  if (window === undefined) {
    const total = await count(context);
    return {
      kind: "list",
      status: 200,
      pieces: await readWhole(context),
      frame,
      found: { total },
    };
  }
  const read = await window.locate(context);
  const found = await readPart(context, read);
  return {
    kind: "list",
    status: 200,
    pieces: [found.text],
    frame,
    found: { total: found.total, part: { found, read } },
  };
}

async function readPart(context: OpenLevelContext, page: PageRead): Promise<FoundPage> {
  const read = await prepareRead(context);
  if (read.kind === "bytes") return await read.page(page, context.pieces.total);
  const total = count(context);
  // If the read fails first, nothing awaits the count. Its rejection could end the process.
  total.catch(() => {});
  return { ...await fillWindow(context, { read, page }), total: await total };
}

async function count({ pieces: { total }, source }: OpenLevelContext): Promise<number | undefined> {
  return total && await source.count(total.limit);
}

/** Each entity is converted when it is read, so that memory never holds all. */
async function readWhole(context: OpenLevelContext): Promise<ListAnswer["pieces"]> {
  const read = await prepareRead(context);
  if (read.kind === "bytes") {
    return read.runsHooks ? await gatherPieces(read.list()) : read.list();
  }
  const { hooks } = context.level;
  const shown = mapInOrder(whileAwaited(context, read), (entity) => showEntity(context, entity));
  const texts = textsOf(context, shown);
  if (hooks.postFetch === undefined && hooks.preSend === undefined) {
    return concatenated(texts, separatorOf(context));
  }
  return await gatherList(texts, separatorOf(context));
}

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
  for await (const values of inBatches(context, lists)) {
    yield await concatenatedTexts(context, values);
  }
}

async function* concatenated(
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

async function gatherPieces(pieces: AsyncIterable<JsonPiece>): Promise<JsonPiece[]> {
  const gathered: JsonPiece[] = [];
  for await (const piece of pieces) gathered.push(piece);
  return gathered;
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

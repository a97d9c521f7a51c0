import { andThen } from "../declare/hooks/and_then.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { notFound } from "../errors/refusals.ts";
import { toJson } from "../json/to_json.ts";
import { fetchEntities, fetchOne } from "./fetch.ts";
import { passHook } from "./run_hooks.ts";
import { gatherList } from "./lists/gather_list.ts";
import { mapInOrder } from "./lists/map_in_order.ts";
import type { OpenLevel } from "./request/call.ts";
import { isOver } from "./request/reply.ts";
import type { Reply } from "./request/reply.ts";

/** Answers with a list: each entity passes `postFetch` and `preSend`, and only its JSON text is kept. */
export async function readMany(acting: OpenLevel): Promise<Reply> {
  const { hooks } = acting.level;
  const texts = mapInOrder(whileAwaited(acting), (entity) => textOf(acting, entity));
  if (hooks.postFetch === undefined && hooks.preSend === undefined) {
    return { status: 200, texts: joined(texts) };
  }
  return { status: 200, gathered: await gatherList(texts) };
}

/** Answers with one entity. */
export async function readOne(acting: OpenLevel): Promise<Reply> {
  const { seen } = await fetchOne(acting);
  const sent = await passHook(acting, "preSend", { entity: seen });
  if (sent === undefined) throw notFound();
  return { status: 200, text: toJson(sent, acting.level.shape) };
}

/** Reads on as long as the client waits. */
async function* whileAwaited(acting: OpenLevel): AsyncGenerator<readonly object[]> {
  for await (const entities of fetchEntities(acting)) {
    if (isOver(acting.req)) return;
    yield entities;
  }
}

/** Shows one entity of a list to its hooks; gives its JSON text, `undefined` where they leave it out. */
function textOf(acting: OpenLevel, entity: object): MaybePromise<string | undefined> {
  // A hook may have ended the response: the ones that follow do not run.
  if (isOver(acting.req)) return undefined;
  const seen = passHook(acting, "postFetch", { entity });
  const sent = andThen(seen, (each) => each && passHook(acting, "preSend", { entity: each }));
  return andThen(sent, (each) => each && toJson(each, acting.level.shape));
}

async function* joined(lists: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const texts of lists) yield texts.join(",");
}

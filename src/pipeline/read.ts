import { toJson } from "../json/to_json.ts";
import { notFound } from "../errors/refusals.ts";
import type { Source } from "../sources/source.ts";
import { andThen } from "../declare/hooks/and_then.ts";
import type { Call } from "./request/call.ts";
import { entityName, fetchEntities, fetchOne } from "./fetch.ts";
import { gatherList } from "./lists/gather_list.ts";
import { hasEntityHooks, passHook } from "./guard.ts";
import { isOver } from "./request/is_over.ts";
import { keep } from "./lists/keep.ts";
import type { Reply } from "./request/reply.ts";

/** Answers with a list: each entity passes `postFetch` and `preSend`, and only its JSON text is kept. */
export async function readMany(call: Call, source: Source): Promise<Reply> {
  const { hooks, shape } = call.acting.level;
  const pieces = hasEntityHooks(call.acting.level) ? undefined : await source.listJson?.();
  if (pieces !== undefined) return { status: 200, texts: pieces };
  const kept = keep(
    whileAwaited(call, fetchEntities(call, call.acting, source)),
    (entity) =>
      // A hook that has answered by itself would meet its own answer at the next entity.
      isOver(call.req) ? undefined : andThen(
        passHook(call, "postFetch", entity),
        (seen) =>
          seen &&
          andThen(passHook(call, "preSend", seen), (sent) => sent && toJson(sent, shape)),
      ),
  );
  if (hooks.postFetch === undefined && hooks.preSend === undefined) {
    return { status: 200, texts: joined(kept) };
  }
  return { status: 200, gathered: await gatherList(kept) };
}

/** Answers with one entity. */
export async function readOne(call: Call, source: Source): Promise<Reply> {
  const { shape } = call.acting.level;
  const text = hasEntityHooks(call.acting.level)
    ? undefined
    : await source.byIdJson?.(entityName(call, call.acting));
  if (text === null) throw notFound();
  if (text !== undefined) return { status: 200, text };
  const { seen: entity } = await fetchOne(call, call.acting, source);
  const sent = await passHook(call, "preSend", entity);
  if (sent === undefined) throw notFound();
  return { status: 200, text: toJson(sent, shape) };
}

async function* joined(lists: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const texts of lists) yield texts.join(",");
}

/** Reads on as long as somebody waits for the answer. */
async function* whileAwaited<T>({ req }: Call, lists: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const entities of lists) {
    if (isOver(req)) return;
    yield entities;
  }
}

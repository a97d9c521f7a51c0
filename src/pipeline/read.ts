import { andThen } from "../declare/hooks/and_then.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { notFound } from "../errors/refusals.ts";
import { toJson, toJsonValue } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { fetchOne } from "./fetch.ts";
import { passHook } from "./run_hooks.ts";
import type { OpenLevel } from "./request/call.ts";
import { isOver } from "./request/reply.ts";
import type { Reply } from "./request/reply.ts";

/** Answers with one entity. */
export async function readOne(acting: OpenLevel): Promise<Reply> {
  const { seen } = await fetchOne(acting);
  const sent = await passHook(acting, "preSend", { entity: seen });
  if (sent === undefined) throw notFound();
  return { status: 200, text: writeEntity(acting, sent) };
}

/** Shows one entity of a list to its hooks; gives its JSON text, `undefined` where they leave it out. */
export function textOf(acting: OpenLevel, entity: object): MaybePromise<string | undefined> {
  // A hook may have ended the response: the ones that follow do not run.
  if (isOver(acting.req)) return undefined;
  const seen = passHook(acting, "postFetch", { entity });
  const sent = andThen(seen, (each) => each && passHook(acting, "preSend", { entity: each }));
  return andThen(sent, (each) => each && writeEntity(acting, each));
}

/** Writes an entity as JSON text: the fields that the client has selected, or all. */
function writeEntity({ asked: { select }, level: { shape } }: OpenLevel, entity: object): string {
  if (select === undefined) return toJson(entity, shape);
  const value = toJsonValue(entity, shape);
  if (!isJsonObject(value)) return toJson(value);
  const selected = Object.entries(value).filter(([name]) =>
    name === "_id" || select.includes(name)
  );
  return toJson(Object.fromEntries(selected));
}

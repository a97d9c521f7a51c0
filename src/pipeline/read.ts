import { andThen } from "../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { notFound } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { readProjection } from "../filter/projection.ts";
import type { JsonPiece } from "../json/bytes/json_writer.ts";
import { populatedText, wantIn, wantNothing } from "../json/populate.ts";
import { toJson, toJsonValue } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { fetchOne } from "./fetch.ts";
import { idParam } from "./request/call.ts";
import type { OpenLevel } from "./request/call.ts";
import { isOver } from "./request/reply.ts";
import type { Reply } from "./request/reply.ts";
import { readVersion } from "./request/versions.ts";
import { passHook } from "./run_hooks.ts";

export async function readOne(acting: OpenLevel): Promise<Reply> {
  const early = await versionBefore(acting);
  const { seen, version, holder } = await fetchOne(acting);
  const sent = await passHook(acting, "preSend", { entity: seen });
  if (sent === undefined) throw notFound();
  const [text = ""] = await entityTexts(acting, [writeEntity(acting, sent)]);
  return { status: 200, text, version: early ?? version ?? null, holder };
}

export async function versionBefore(acting: OpenLevel): Promise<Version | undefined> {
  const { level: { hooks, link, shape, versionKey = "" }, state } = acting;
  const { hidden = false, selected = true } = shape.fields.get(versionKey) ?? {};
  const isWhole = selected && !hidden && isEmpty(readProjection(state.projection, shape));
  return isWhole || link?.embedded || hooks.fetch !== undefined
    ? undefined
    : await readVersion(acting, idParam(acting));
}

export function showEntity(
  acting: OpenLevel,
  entity: object,
): MaybePromise<EntityJson | undefined> {
  return andThen(passHooks(acting, entity), (each) => each && writeEntity(acting, each));
}

export function passHooks(acting: OpenLevel, entity: object): MaybePromise<object | undefined> {
  // A hook may have ended the response: the ones that follow do not run.
  if (isOver(acting.req)) return undefined;
  const seen = passHook(acting, "postFetch", { entity });
  return andThen(seen, (each) => each && passHook(acting, "preSend", { entity: each }));
}

/** How many entities wait for the entities that they refer to. */
const AT_ONCE = 128;

/** An entity after its hooks: JSON text, or a JSON value in which references are still identifiers. */
export type EntityJson = string | { readonly value: unknown };

export function writeEntity(
  { asked: { select }, level: { shape }, finder }: OpenLevel,
  entity: object,
): EntityJson {
  if (finder === undefined && select === undefined) return toJson(entity, shape);
  const value = toJsonValue(entity, shape);
  const shown = select !== undefined && isJsonObject(value)
    ? Object.fromEntries(
      Object.entries(value).filter(([name]) => name === "_id" || select.includes(name)),
    )
    : value;
  return finder === undefined ? JSON.stringify(shown) ?? "null" : { value: shown };
}

export async function entityTexts(
  { finder, timeBudget }: OpenLevel,
  entities: readonly EntityJson[],
): Promise<JsonPiece[]> {
  if (finder === undefined) return entities as string[];
  const values = entities.map((each) => (each as { readonly value: unknown }).value);
  const wanted = wantNothing(finder);
  for (const value of values) wantIn(value, wanted);
  const targets = await timeBudget.waitForNext(finder.find(wanted));
  return values.map((value) => populatedText(value, targets));
}

/** The same for a list, some entities at a time. */
export function listTexts(
  at: OpenLevel,
  lists: AsyncIterable<readonly EntityJson[]>,
): AsyncIterable<readonly JsonPiece[]> {
  return at.finder === undefined
    ? lists as AsyncIterable<readonly string[]>
    : populatedTexts(at, lists);
}

async function* populatedTexts(
  at: OpenLevel,
  lists: AsyncIterable<readonly EntityJson[]>,
): AsyncGenerator<JsonPiece[]> {
  let held: EntityJson[] = [];
  for await (const entities of lists) {
    held.push(...entities);
    if (held.length < AT_ONCE) continue;
    yield await entityTexts(at, held);
    held = [];
  }
  if (held.length > 0) yield await entityTexts(at, held);
}

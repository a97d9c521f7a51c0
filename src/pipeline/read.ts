import { andThen } from "../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { notFound } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { readProjection, unshownFields } from "../filter/projection.ts";
import { populatedText, wantIn, wantNothing } from "../json/populate.ts";
import { toJsonValue } from "../json/to_json.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";
import { savesOf } from "../schema/mongoose/statements/save_by.ts";
import type { EntitiesRead } from "../sources/source.ts";
import { fetchOne, openRead } from "./fetch.ts";
import { idParam, type OpenLevel, separatorOf } from "./request/call.ts";
import { isOver, type Reply } from "./request/reply.ts";
import { readVersion, versionRead } from "./request/versions.ts";
import { passHook } from "./pass_hooks.ts";

export async function readOne(acting: OpenLevel): Promise<Reply> {
  const read = await openRead(acting);
  if (read.kind === "documents") return await readForHooks(acting, read);
  const found = await read.one(idParam(acting));
  if (found === null) throw notFound();
  return { status: 200, ...found, holder: acting.source.only };
}

async function readForHooks(acting: OpenLevel, read: EntitiesRead): Promise<Reply> {
  const early = await versionBefore(acting);
  const { seen, version, holder } = await fetchOne(acting, read);
  const saves = savesOf(seen);
  const sent = await passHook(acting, "preSend", { entity: seen });
  if (sent === undefined) throw notFound();
  const [text = ""] = await entityTexts(acting, [entityValue(acting, sent)]);
  const saved = savesOf(seen) === saves ? undefined : versionRead(seen, acting).version;
  return { status: 200, text, version: saved ?? early ?? version ?? null, holder };
}

export async function versionBefore(acting: OpenLevel): Promise<Version | undefined> {
  const { level: { hooks, link, shape, versionKey = "" }, state } = acting;
  const { hidden = false, selected = true } = shape.fields.get(versionKey) ?? {};
  const isWhole = selected && !hidden && isEmpty(readProjection(state.projection, shape));
  return isWhole || link?.embedded || hooks.fetch !== undefined
    ? undefined
    : await readVersion(acting, idParam(acting));
}

/** Passes an entity through its hooks, and gives what is shown of it as a value of JSON. References are still identifiers. */
export function showEntity(acting: OpenLevel, entity: object): MaybePromise<unknown> {
  return andThen(passReadHooks(acting, entity), (each) => each && entityValue(acting, each));
}

export function passReadHooks(acting: OpenLevel, entity: object): MaybePromise<object | undefined> {
  // A hook may have ended the response: the ones that follow do not run.
  if (isOver(acting.req)) return undefined;
  const seen = passHook(acting, "postFetch", { entity });
  return andThen(seen, (each) => each && passHook(acting, "preSend", { entity: each }));
}

export function entityValue(
  { asked: { select }, level: { shape } }: OpenLevel,
  entity: object,
): unknown {
  const value = toJsonValue(entity, shape) ?? null;
  if (select === undefined || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => name === "_id" || select.includes(name)),
  );
}

/** Tells what of an entity that was read to be changed is in the answer. */
export function shownOf({ level: { shape }, state }: OpenLevel) {
  return { shape, unshown: unshownFields(readProjection(state.projection, shape), shape) };
}

/** Gives the JSON text of each entity, with what its references name. */
export async function entityTexts(
  { finder, timeBudget }: OpenLevel,
  values: readonly unknown[],
): Promise<string[]> {
  if (finder === undefined) return values.map((value) => JSON.stringify(value));
  const wanted = wantNothing(finder);
  for (const value of values) wantIn(value, wanted);
  const targets = await timeBudget.waitForNext(finder.find(wanted));
  return values.map((value) => populatedText(value, targets));
}

/** Gives the same with separators between them. */
export async function joinedTexts(at: OpenLevel, values: readonly unknown[]): Promise<string> {
  const separator = separatorOf(at);
  // The text of all costs a fifth less than the texts of each.
  if (at.finder === undefined && separator === ",") return JSON.stringify(values).slice(1, -1);
  return (await entityTexts(at, values)).join(separator);
}

/** How many entities wait for the entities that they refer to. */
const AT_ONCE = 128;

/** Gathers small lists, so that what their entities refer to is found at once. */
export async function* inBatches(
  { finder }: OpenLevel,
  lists: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<readonly unknown[]> {
  let held: unknown[] = [];
  for await (const values of lists) {
    held.push(...values);
    if (finder !== undefined && held.length < AT_ONCE) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

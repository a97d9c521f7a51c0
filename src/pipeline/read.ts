import { POPULATED_AT_ONCE } from "../store/read_batches.ts";
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
import { fetchOne, prepareRead } from "./fetch.ts";
import { idParam, type OpenLevelContext, separatorOf } from "./request/request_context.ts";
import type { TextAnswer } from "./request/answer.ts";
import { isOver } from "./request/response.ts";
import { readVersion, versionRead } from "./request/versions.ts";
import { passHook } from "./pass_hooks.ts";

export async function readOne(context: OpenLevelContext): Promise<TextAnswer> {
  const read = await prepareRead(context);
  if (read.kind === "documents") return await readForHooks(context, read);
  const found = await read.one(idParam(context));
  if (found === null) throw notFound();
  return { kind: "text", status: 200, ...found, parentId: context.source.only };
}

async function readForHooks(context: OpenLevelContext, read: EntitiesRead): Promise<TextAnswer> {
  const early = await versionBefore(context);
  const { passed, version, parentId } = await fetchOne(context, read);
  const saves = savesOf(passed);
  const sent = await passHook(context, "preSend", { entity: passed });
  if (sent === undefined) throw notFound();
  const [text = ""] = await entityTexts(context, [entityValue(context, sent)]);
  const saved = savesOf(passed) === saves ? undefined : versionRead(passed, context).version;
  return { kind: "text", status: 200, text, version: saved ?? early ?? version ?? null, parentId };
}

export async function versionBefore(context: OpenLevelContext): Promise<Version | undefined> {
  const { level: { hooks, link, shape, versionKey = "" }, state } = context;
  const { hidden = false, selected = true } = shape.fields.get(versionKey) ?? {};
  const isWhole = selected && !hidden && isEmpty(readProjection(state.projection, shape));
  return isWhole || link?.embedded || hooks.fetch !== undefined
    ? undefined
    : await readVersion(context, idParam(context));
}

/** `undefined` if a hook hides the entity. References are not filled yet. */
export function showEntity(context: OpenLevelContext, entity: object): MaybePromise<unknown> {
  return andThen(passReadHooks(context, entity), (each) => each && entityValue(context, each));
}

export function passReadHooks(
  context: OpenLevelContext,
  entity: object,
): MaybePromise<object | undefined> {
  if (isOver(context.req)) return undefined;
  const passed = passHook(context, "postFetch", { entity });
  return andThen(passed, (each) => each && passHook(context, "preSend", { entity: each }));
}

export function entityValue(
  { pieces: { shown }, level: { shape } }: OpenLevelContext,
  entity: object,
): unknown {
  const value = toJsonValue(entity, shape) ?? null;
  if (shown === undefined || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => name === "_id" || shown.includes(name)),
  );
}

/** A change reads all fields, but its answer shows only the usual ones. */
export function shownOf({ level: { shape }, state }: OpenLevelContext) {
  return { shape, unshown: unshownFields(readProjection(state.projection, shape), shape) };
}

export async function entityTexts(
  { pieces: { fills }, timeBudget }: OpenLevelContext,
  values: readonly unknown[],
): Promise<string[]> {
  if (fills === undefined) return values.map((value) => JSON.stringify(value));
  const wanted = wantNothing(fills);
  for (const value of values) wantIn(value, wanted);
  const targets = await timeBudget.waitForNext(fills.find(wanted));
  return values.map((value) => populatedText(value, targets));
}

export async function concatenatedTexts(
  context: OpenLevelContext,
  values: readonly unknown[],
): Promise<string> {
  const separator = separatorOf(context);
  // A single `JSON.stringify()` takes a fifth less time than one for each.
  if (context.pieces.fills === undefined && separator === ",") {
    return JSON.stringify(values).slice(1, -1);
  }
  return (await entityTexts(context, values)).join(separator);
}

/** Populating costs a query for each batch and reference field, so batches are filled. */
export async function* inBatches(
  { pieces: { fills } }: OpenLevelContext,
  lists: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<readonly unknown[]> {
  let held: unknown[] = [];
  for await (const values of lists) {
    held.push(...values);
    if (fills !== undefined && held.length < POPULATED_AT_ONCE) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

import type { Document, Model } from "mongoose";
import type { TurnPacer } from "../../errors/event_loop.ts";
import { readProjection, showsWhole } from "../../filter/projection.ts";
import { wholeToJson } from "../../json/to_json.ts";
import { passReadHooks, shownOf } from "../../pipeline/read.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { copyJson, isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { shareFields } from "../../sources/entity_fields.ts";
import type { StoredObject } from "../../store/values.ts";
import type { StoredRecord } from "./history_collection.ts";
import { isRecorded } from "./recorded_values.ts";

export interface ReplayedRecord {
  readonly record: StoredRecord;
  readonly before: StoredObject;
  readonly after: StoredObject;
}

export interface ShownRecord extends Omit<StoredRecord, "entity" | "before"> {
  readonly before: object;
  readonly actorName?: string;
}

export interface RecordContext {
  readonly context: OpenLevelContext;
  readonly model: Model<unknown>;
  readonly entity: Document;
  readonly current: StoredObject;
  readonly currentJson: JsonObject;
  readonly pacer: TurnPacer;
}

export function hasReadHooks({ level: { hooks } }: OpenLevelContext): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}

export async function showRecord(
  shown: RecordContext,
  { record, before, after }: ReplayedRecord,
): Promise<ShownRecord> {
  const { version, at, actor, via, operation, changed } = record;
  const isSigned = await showsActor(shown, actor);
  const { time, all = [] } = removalFields(shown) ?? {};
  // The sender of a removal is as secret as the senders of other writes.
  const visible = changed.filter((name) =>
    isVisible(name, shown) && (isSigned || name === time || !all.includes(name))
  );
  const isReplaced = (name: string) => Object.hasOwn(record.before, name);
  const replaced = await shownValues(shown, { values: before, names: visible.filter(isReplaced) });
  const added = visible.filter((name) => !isReplaced(name));
  // An added field has no earlier value, so hooks decide by the later value whether clients see its name.
  const named = hasReadHooks(shown.context)
    ? await shownValues(shown, { values: after, names: added })
    : Object.fromEntries(added.map((name) => [name, true]));
  return {
    version,
    at,
    ...isSigned && {
      ...actor !== undefined && { actor },
      ...via !== undefined && { via },
    },
    operation: shownOperation(operation, shown),
    changed: visible.filter((name) => Object.hasOwn(isReplaced(name) ? replaced : named, name)),
    before: replaced,
  };
}

function shownOperation(
  operation: string,
  { context: { level }, current, currentJson }: RecordContext,
): string {
  const [first = "", ...names] = operation.split(".");
  if (names.length === 0) return operation;
  const { fields, rights } = level.shape;
  // This JSON never has a property with the option `apart`, so its absence does not show that a hook hides it.
  const isLeftOut = fields.get(first)?.apart !== true && Object.hasOwn(current, first) &&
    !Object.hasOwn(currentJson, first);
  const shown: string[] = [];
  let shape: Shape | undefined = level.shape;
  for (const name of [first, ...names.slice(0, -1)]) {
    const field: FieldShape | undefined = shape?.fields.get(name);
    const isHidden = rights.restricts(field?.type?.options.hidden);
    if (isLeftOut || isHidden) return [...shown, "update"].join(".");
    shown.push(name);
    shape = field?.shape ?? field?.element?.shape;
  }
  return operation;
}

/** A client that cannot see a field with `stamp` must not learn the sender here. */
async function showsActor(shown: RecordContext, actor: unknown): Promise<boolean> {
  const { context: { level: { shape } }, current, currentJson } = shown;
  for (const [name, field] of shape.fields) {
    if (field.type?.options.stamp === undefined) continue;
    if (whyUnseen(field) !== undefined || !isProjected(name, shown)) return false;
    if (Object.hasOwn(currentJson, name)) continue;
    if (Object.hasOwn(current, name)) return false;
    if (actor === undefined || !hasReadHooks(shown.context)) continue;
    // Hooks judge an empty stamp as if it held this sender.
    if (!Object.hasOwn(await shownIn(shown, { ...current, [name]: actor }), name)) return false;
  }
  return true;
}

function removalFields({ context: { level, route } }: RecordContext) {
  return route.features.removalFieldsOf(level.target);
}

function isVisible(name: string, shown: RecordContext): boolean {
  const { context: { level }, model } = shown;
  const { updatedAt } = stampFields(model.schema);
  return name !== updatedAt && isRecorded(name, level.shape) && isProjected(name, shown);
}

function isProjected(
  name: string,
  { context: { level: { shape }, state: { projection } }, entity }: RecordContext,
): boolean {
  return entity.isSelected(name) && showsWhole(name, readProjection(projection, shape));
}

interface Version {
  readonly values: StoredObject;
  readonly names: readonly string[];
}

/**
 * Hooks must show the same value in the earlier version, and in the present entity with the earlier value: the client
 * could see it then, and may see it now.
 */
async function shownValues(shown: RecordContext, { values, names }: Version): Promise<JsonObject> {
  if (names.length === 0) return {};
  const { context, current, pacer } = shown;
  const then = await shownIn(shown, values);
  const entries: (readonly [string, unknown])[] = [];
  for (const name of names) {
    if (!Object.hasOwn(then, name)) continue;
    if (pacer.isDue) await pacer.rest();
    // Changes only this field: with the earlier owner too, hooks would judge the earlier entity.
    const now = hasReadHooks(context)
      ? await shownIn(shown, { ...current, [name]: values[name] })
      : then;
    const isSame = JSON.stringify(then[name]) === JSON.stringify(now[name]);
    if (Object.hasOwn(now, name) && isSame) entries.push([name, then[name]]);
  }
  return Object.fromEntries(entries);
}

async function shownIn(
  { context, model, entity }: RecordContext,
  values: StoredObject,
): Promise<JsonObject> {
  const doc = model.hydrate(copyJson(values)) as Document;
  shareFields(entity, doc);
  // A hook may save the document, but earlier values must not be stored.
  Object.defineProperty(doc, "save", { value: () => Promise.resolve(doc), configurable: true });
  const sent = await passReadHooks(context, doc);
  return sent === undefined ? {} : jsonOf(context, sent);
}

export function jsonOf(context: OpenLevelContext, sent: object): JsonObject {
  const json: unknown = JSON.parse(wholeToJson(sent, shownOf(context)));
  return isJsonObject(json) ? json : {};
}

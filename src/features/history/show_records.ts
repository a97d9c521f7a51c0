import type { Document, Model } from "mongoose";
import type { TurnPacer } from "../../errors/event_loop.ts";
import { readProjection, showsWhole } from "../../filter/projection.ts";
import { wholeToJson } from "../../json/to_json.ts";
import { passReadHooks, shownOf } from "../../pipeline/read.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import { copyJson, isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { shareFields } from "../../sources/entity_fields.ts";
import type { StoredObject } from "../../store/values.ts";
import type { HistoryRecord } from "./history_collection.ts";
import { isRecorded } from "./recorded_values.ts";

/** Hooks decide by the values before and after the write which values a client may see. */
export interface ReplayedRecord {
  readonly record: HistoryRecord;
  readonly before: StoredObject;
  readonly after: StoredObject;
}

export interface ShownRecord extends Omit<HistoryRecord, "entity" | "before"> {
  readonly before: object;
  readonly actorName?: string;
}

export interface ShownEntity {
  readonly context: OpenLevelContext;
  readonly model: Model<unknown>;
  readonly entity: Document;
  readonly current: StoredObject;
  /** The JSON of the present entity as the client sees it. */
  readonly present: JsonObject;
  /** Hooks run once for each shown field, so a page of many writes of many fields takes several turns. */
  readonly pacer: TurnPacer;
}

/** The hooks run on each version that the history shows, so all values of the version must be known. */
export function isJudged({ level: { hooks } }: OpenLevelContext): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}

export async function showRecord(
  shown: ShownEntity,
  { record, before, after }: ReplayedRecord,
): Promise<ShownRecord> {
  const { version, at, actor, operation, changed } = record;
  const seen = changed.filter((name) => isSeen(name, shown));
  const isReplaced = (name: string) => Object.hasOwn(record.before, name);
  const replaced = await shownValues(shown, { values: before, names: seen.filter(isReplaced) });
  const added = seen.filter((name) => !isReplaced(name));
  // A record has no earlier value of a field that its write has added, and shows only the name. Hooks decide by the
  // value after the write whether the client may see the name.
  const named = isJudged(shown.context)
    ? await shownValues(shown, { values: after, names: added })
    : Object.fromEntries(added.map((name) => [name, true]));
  return {
    version,
    at,
    ...actor !== undefined && showsActor(shown) && { actor },
    operation,
    changed: seen.filter((name) => Object.hasOwn(isReplaced(name) ? replaced : named, name)),
    before: replaced,
  };
}

/**
 * If a field with the option `stamp` is hidden from the client or left out by hooks, the history must not reveal the
 * sender either.
 */
function showsActor(
  { context: { level: { shape } }, entity, current, present }: ShownEntity,
): boolean {
  return [...shape.fields].every(([name, field]) =>
    field.type?.options.stamp === undefined ||
    whyUnseen(field) === undefined && entity.isSelected(name) &&
      (Object.hasOwn(present, name) || !Object.hasOwn(current, name))
  );
}

function isSeen(name: string, shown: ShownEntity): boolean {
  const { context: { level, state, route }, model, entity } = shown;
  const { updatedAt } = stampFields(model.schema);
  // The sender of a removal is as secret as the senders of other writes.
  const { time, all = [] } = route.features.removalFieldsOf(level.target) ?? {};
  const isActor = name !== time && all.includes(name);
  return name !== updatedAt && isRecorded(name, level.shape) && entity.isSelected(name) &&
    showsWhole(name, readProjection(state.projection, level.shape)) &&
    (!isActor || showsActor(shown));
}

interface Version {
  readonly values: StoredObject;
  readonly names: readonly string[];
}

/**
 * The hooks run on the earlier version, and for each field on the present entity with the earlier value. A value that
 * they hide or change in one of the two is left out, because the client could not see it earlier or may not see it now.
 */
async function shownValues(shown: ShownEntity, { values, names }: Version): Promise<JsonObject> {
  if (names.length === 0) return {};
  const { context, current, pacer } = shown;
  const then = await shownIn(shown, values);
  const entries: (readonly [string, unknown])[] = [];
  for (const name of names) {
    if (!Object.hasOwn(then, name)) continue;
    if (pacer.isDue) await pacer.rest();
    // The hooks get only one earlier value at a time. With several values of one write, such as the earlier owner, they
    // would decide by the earlier entity.
    const now = isJudged(context)
      ? await shownIn(shown, { ...current, [name]: values[name] })
      : then;
    const isSame = JSON.stringify(then[name]) === JSON.stringify(now[name]);
    if (Object.hasOwn(now, name) && isSame) entries.push([name, then[name]]);
  }
  return Object.fromEntries(entries);
}

/** The JSON has no fields if the hooks hide this version. */
async function shownIn(
  { context, model, entity }: ShownEntity,
  values: StoredObject,
): Promise<JsonObject> {
  const doc = model.hydrate(copyJson(values)) as Document;
  shareFields(entity, doc);
  // A hook may save the document that it gets. The document has the values of an earlier version, which must not be
  // stored.
  Object.defineProperty(doc, "save", { value: () => Promise.resolve(doc), configurable: true });
  const sent = await passReadHooks(context, doc);
  return sent === undefined ? {} : jsonOf(context, sent);
}

export function jsonOf(context: OpenLevelContext, sent: object): JsonObject {
  const json: unknown = JSON.parse(wholeToJson(sent, shownOf(context)));
  return isJsonObject(json) ? json : {};
}

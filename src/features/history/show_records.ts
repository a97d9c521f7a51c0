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
import type { StoredObject } from "../../write/stored_values.ts";
import type { HistoryRecord } from "./history_collection.ts";
import { isRecorded } from "./recorded_values.ts";

/**
 * A record of the history, with the values of its entity before and after the write, by which hooks decide which values
 * a client may see.
 */
export interface ReplayedRecord {
  readonly record: HistoryRecord;
  readonly before: StoredObject;
  readonly after: StoredObject;
}

/** A record as a client sees it. */
export interface ShownRecord extends Omit<HistoryRecord, "entity" | "before"> {
  readonly before: object;
  readonly actorName?: string;
}

/** The entity whose history is shown to a client. */
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

/**
 * Whether an operation has hooks that may hide or change an entity before it is sent. They run on each version that the
 * history shows, so all values of the version must be known.
 */
export function isJudged({ level: { hooks } }: OpenLevelContext): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}

/** Returns a record of the history without the fields that the client may not see. */
export async function showRecord(
  shown: ShownEntity,
  { record, before, after }: ReplayedRecord,
): Promise<ShownRecord> {
  const { version, at, actor, operation, changed } = record;
  const seen = changed.filter((name) => isSeen(name, shown));
  const isReplaced = (name: string) => Object.hasOwn(record.before, name);
  const replaced = await shownValues(shown, { values: before, names: seen.filter(isReplaced) });
  const added = seen.filter((name) => !isReplaced(name));
  // If a write has added a field, its record in the history has no earlier value of the field, and shows only the name.
  // Hooks decide by the value after the write whether the client may see the name. Without hooks, the name is shown.
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
 * Whether the history shows the client who has sent each write. If the entity has a field with the option `stamp` that
 * is hidden from the client or that hooks leave out, the history must not reveal the sender either.
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

/** Whether the client may see a field of an entity in the history of the entity. */
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
 * Returns the JSON of some fields of an earlier version of an entity. The hooks run on this version, and for each field
 * on the present entity with the earlier value of this field. A value that the hooks hide or change in one of the two is
 * left out, because the client could not see it earlier or may not see it now.
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

/**
 * Returns the JSON of an earlier version of an entity as the hooks and options of the request show it. The JSON has no
 * fields if the hooks hide this version.
 */
async function shownIn(
  { context, model, entity }: ShownEntity,
  values: StoredObject,
): Promise<JsonObject> {
  const doc = model.hydrate(copyJson(values)) as Document;
  shareFields(entity, doc);
  // A hook may save the document that it gets, for example to count how often it was read. The document has the values
  // of an earlier version, which must not be stored, so its `save()` does nothing.
  Object.defineProperty(doc, "save", { value: () => Promise.resolve(doc), configurable: true });
  const sent = await passReadHooks(context, doc);
  return sent === undefined ? {} : jsonOf(context, sent);
}

/** Returns the JSON of an entity that has passed the hooks of a request, as the client sees it. */
export function jsonOf(context: OpenLevelContext, sent: object): JsonObject {
  const json: unknown = JSON.parse(wholeToJson(sent, shownOf(context)));
  return isJsonObject(json) ? json : {};
}

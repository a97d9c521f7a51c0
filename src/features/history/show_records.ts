import type { Document, Model } from "mongoose";
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

/** A record with the values of its entity before and after the write. */
export interface ReplayedRecord {
  readonly record: HistoryRecord;
  readonly before: StoredObject;
  readonly after: StoredObject;
}

/** The entity whose records are shown to the reader of a request. */
export interface ShownEntity {
  readonly context: OpenLevelContext;
  readonly model: Model<unknown>;
  /** The entity as the request has read it. */
  readonly entity: Document;
  /** The stored values of the entity. */
  readonly current: StoredObject;
}

/** Whether hooks decide about each version of an entity, so that the whole version must be known. */
export function isJudged({ level: { hooks } }: OpenLevelContext): boolean {
  return hooks.postFetch !== undefined || hooks.preSend !== undefined;
}

/** Returns a record of the history as the reader of a request may see it. */
export async function showRecord(
  shown: ShownEntity,
  { record, before, after }: ReplayedRecord,
): Promise<object> {
  const { version, at, actor, operation, changed } = record;
  const seen = changed.filter((name) => isSeen(name, shown));
  const isReplaced = (name: string) => Object.hasOwn(record.before, name);
  const replaced = await shownValues(shown, { values: before, names: seen.filter(isReplaced) });
  const added = seen.filter((name) => !isReplaced(name));
  // Of a field without an earlier value, the record shows only the name. Without hooks, the reader may see the name.
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
 * Whether the reader of a request may see the senders of writes. If a field that stores a sender is hidden from this
 * reader, records must not reveal the sender.
 */
function showsActor({ context: { level: { shape } } }: ShownEntity): boolean {
  const fields = [...shape.fields.values()];
  return fields.every((field) =>
    field.type?.options.stamp === undefined || whyUnseen(field) === undefined
  );
}

/** Whether the reader of a request may see a field of an entity in its history. */
function isSeen(name: string, { context: { level, state }, model, entity }: ShownEntity): boolean {
  const { updatedAt } = stampFields(model.schema);
  return name !== updatedAt && isRecorded(name, level.shape) && entity.isSelected(name) &&
    showsWhole(name, readProjection(state.projection, level.shape));
}

interface Version {
  readonly values: StoredObject;
  /** The names of the fields to show. */
  readonly names: readonly string[];
}

/**
 * Returns the JSON values of fields in a version of an entity. Hooks judge each value twice, in the version and in the
 * present entity. A value that they hide or change in one of them is left out, because the reader could not see it then
 * or may not see it now.
 */
async function shownValues(shown: ShownEntity, { values, names }: Version): Promise<JsonObject> {
  if (names.length === 0) return {};
  const { context, current } = shown;
  const then = await shownIn(shown, values);
  const now = isJudged(context)
    ? await shownIn(shown, withFields(current, { values, names }))
    : then;
  const isShown = (name: string) =>
    Object.hasOwn(then, name) && Object.hasOwn(now, name) &&
    JSON.stringify(then[name]) === JSON.stringify(now[name]);
  return Object.fromEntries(names.filter(isShown).map((name) => [name, then[name]]));
}

/** Returns the present values of an entity, in which the given fields have their values of another version. */
function withFields(current: StoredObject, { values, names }: Version): StoredObject {
  const others = Object.entries(current).filter(([name]) => !names.includes(name));
  const taken = names.filter((name) => Object.hasOwn(values, name));
  return Object.fromEntries([...others, ...taken.map((name) => [name, values[name]])]);
}

/** Returns the JSON that a request shows of a version of an entity, without fields if its hooks hide the version. */
async function shownIn(
  { context, model, entity }: ShownEntity,
  values: StoredObject,
): Promise<JsonObject> {
  const doc = model.hydrate(copyJson(values)) as Document;
  shareFields(entity, doc);
  // A hook that saves the entity, for example to count its readers, must not store the values of an earlier version.
  Object.defineProperty(doc, "save", { value: () => Promise.resolve(doc), configurable: true });
  const sent = await passReadHooks(context, doc);
  const json: unknown = sent && JSON.parse(wholeToJson(sent, shownOf(context)));
  return isJsonObject(json) ? json : {};
}

import type { Document, Model } from "mongoose";
import { notFound } from "../../errors/refusals.ts";
import { readActionBody } from "../../pipeline/action.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { changeEntity } from "../../pipeline/write.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isSetOnce, whyUnseen } from "../../schema/fields/visibility.ts";
import { setRaw } from "../../schema/mongoose/documents/document_values.ts";
import type { NamedReference } from "../../write/body/cast_body.ts";
import { readSnapshot, type StoredObject, storedText } from "../../write/stored_values.ts";
import type { HistoryRecord } from "./history_collection.ts";
import { eachRecord, latestOf, valuesBefore } from "./read_records.ts";

/**
 * Sets an entity back to an earlier version, as an update does. Only fields that the caller may see and set are set
 * back.
 */
export async function revert(context: OpenLevelContext): Promise<Reply> {
  const { level: { action } } = context;
  return await changeEntity(context, async (entity) => {
    const version = Number(await readActionBody(context, action?.body));
    const { values: current } = readSnapshot(entity);
    return setBack(entity, {
      context,
      current,
      earlier: await readVersion(context, { current, version }),
    });
  });
}

interface Earlier {
  readonly values: StoredObject;
  /** The names of the fields that have changed since the version. */
  readonly changed: ReadonlySet<string>;
}

/**
 * Returns the values of an entity right after a version, from its present values and the records of later versions.
 * Throws a 404 if one of these records is not stored any more.
 */
async function readVersion(
  context: OpenLevelContext,
  { current, version }: { readonly current: StoredObject; readonly version: number },
): Promise<Earlier> {
  const latest = latestOf(current, versionKeyOf(await context.model()));
  if (version > latest) throw notFound();
  let values = current;
  let count = 0;
  const changed = new Set<string>();
  const see = (record: HistoryRecord) => {
    values = valuesBefore(values, record);
    for (const name of record.changed) changed.add(name);
    count++;
    return true;
  };
  await eachRecord(context, { current, versions: { $gt: version }, see });
  if (count < latest - version) throw notFound();
  return { values, changed };
}

/** Sets fields of a document to earlier values. Returns the references in these values to entities that must exist. */
function setBack(
  doc: Document,
  { context, current, earlier: { values, changed } }: {
    readonly context: OpenLevelContext;
    readonly current: StoredObject;
    readonly earlier: Earlier;
  },
): NamedReference[] {
  const { level: { shape } } = context;
  const schema = (doc.constructor as Model<unknown>).schema;
  const references: NamedReference[] = [];
  for (const name of changed) {
    const field = shape.fields.get(name);
    if (!isSetBack(field)) continue;
    const value = settled(values[name], { now: current[name], field });
    if (storedText(value) === storedText(current[name])) continue;
    const type = schema.path(name) ?? field.type;
    setRaw(doc, {
      path: name,
      value: value === undefined ? undefined : type.cast(value, doc, true, undefined, {}),
    });
    doc.markModified(name);
    references.push(...referencesIn(value, { path: name, field }));
  }
  return references;
}

function isSetBack(field: FieldShape | undefined): field is FieldShape {
  return field !== undefined && field.writable && whyUnseen(field) === undefined &&
    !isSetOnce(field);
}

interface Settled {
  /** The present value in the same place. Missing if nothing is stored there. */
  readonly now: unknown;
  readonly field: FieldShape;
}

/**
 * Returns an earlier value in which the fields that the caller cannot see or set have their present values. Objects of a
 * list are compared with the present objects of the same `_id`.
 */
function settled(value: unknown, { now, field }: Settled): unknown {
  const { kind, shape, element } = field;
  if (kind === "object" && shape !== undefined && isJsonObject(value)) {
    return settledIn(value, { now: isJsonObject(now) ? now : undefined, shape });
  }
  if (element === undefined) return value;
  if (kind === "map" && isJsonObject(value)) {
    const held: StoredObject = isJsonObject(now) ? now : {};
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        settled(each, { now: held[key], field: element }),
      ]),
    );
  }
  if (kind !== "array" || !Array.isArray(value)) return value;
  const byId = new Map(
    (Array.isArray(now) ? now : []).filter(isJsonObject)
      .map((each) => [storedText(each._id), each]),
  );
  return value.map((each) =>
    settled(each, { now: byId.get(storedText(Object(each)._id)), field: element })
  );
}

function settledIn(
  value: StoredObject,
  { now, shape }: { readonly now: StoredObject | undefined; readonly shape: Shape },
): StoredObject {
  const settledValues = Object.entries(value).flatMap(([name, each]) => {
    const field = shape.fields.get(name);
    // An object that comes back has its earlier values, except values that the caller cannot see.
    if (now === undefined) {
      return field === undefined || whyUnseen(field) === undefined
        ? [[name, field ? settled(each, { now: undefined, field }) : each]]
        : [];
    }
    return isSetBack(field) ? [[name, settled(each, { now: now[name], field })]] : [];
  });
  const kept = Object.entries(now ?? {}).filter(([name]) => !isSetBack(shape.fields.get(name)));
  return Object.fromEntries([...kept, ...settledValues]);
}

/** Returns the references in a value to entities that must exist. */
function referencesIn(
  value: unknown,
  { path, field }: { readonly path: string; readonly field: FieldShape },
): NamedReference[] {
  if (value === undefined || value === null) return [];
  if (field.exists) return [{ path, field, id: value }];
  const { kind, shape, element } = field;
  if (kind === "array" && element !== undefined && Array.isArray(value)) {
    return value.flatMap((each, index) =>
      referencesIn(each, { path: `${path}.${index}`, field: element })
    );
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const inner = kind === "map" ? element : shape?.fields.get(name);
    return inner === undefined ? [] : referencesIn(each, { path: `${path}.${name}`, field: inner });
  });
}

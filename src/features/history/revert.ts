import type { Document, Model } from "mongoose";
import { notFound } from "../../errors/refusals.ts";
import { readActionBody } from "../../pipeline/action.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import { changeEntity } from "../../pipeline/write.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import { type FieldShape, type Shape, shapeForAll } from "../../schema/fields/shape.ts";
import { isSetOnce, strictestField, whyUnseen } from "../../schema/fields/visibility.ts";
import { setStored } from "../../schema/mongoose/documents/set_stored.ts";
import type { NamedReference } from "../../write/body/cast_body.ts";
import { type StoredObject, storedText, valueAt } from "../../store/values.ts";
import { factsOf } from "../../write/document_facts.ts";
import { readSnapshot, valuesToStore } from "../../write/stored_values.ts";
import { keepUncastValues } from "../../write/keep_uncast_values.ts";
import { noteSet } from "../../write/set_paths.ts";
import { recordedValues } from "./recorded_values.ts";
import { eachRecord, latestOf, valuesBefore } from "./read_records.ts";

/** Only fields that the caller may see and set are set back. */
export async function revert(context: OpenLevelContext): Promise<TextAnswer> {
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
  readonly changed: ReadonlySet<string>;
  /**
   * The value of each field before its last change. A list also has objects with an `_id` that earlier changes removed.
   */
  readonly newest: ReadonlyMap<string, unknown>;
}

async function readVersion(
  context: OpenLevelContext,
  { current, version }: { readonly current: StoredObject; readonly version: number },
): Promise<Earlier> {
  const latest = latestOf(current, versionKeyOf(await context.model()));
  if (version > latest) throw notFound();
  let values = current;
  let count = 0;
  const changed = new Set<string>();
  const newest = new Map<string, unknown>();
  for await (const record of eachRecord(context, { current, versions: { $gt: version } })) {
    values = valuesBefore(values, record);
    for (const name of record.changed) {
      changed.add(name);
      newest.set(name, withOlder(newest.get(name), record.before[name]));
    }
    count++;
  }
  if (count < latest - version) throw notFound();
  return { values, changed, newest };
}

function withOlder(newer: unknown, older: unknown): unknown {
  if (!Array.isArray(older)) return newer ?? older;
  const elements: readonly unknown[] = Array.isArray(newer) ? newer : [];
  const ids = new Set(elements.map(idIn));
  const others = older.filter((each) => idIn(each) !== undefined && !ids.has(idIn(each)));
  return others.length === 0 ? elements : [...elements, ...others];
}

function idIn(value: unknown): string | undefined {
  return isJsonObject(value) && value._id !== undefined ? storedText(value._id) : undefined;
}

function setBack(
  doc: Document,
  { context, current, earlier: { values, changed, newest } }: {
    readonly context: OpenLevelContext;
    readonly current: StoredObject;
    readonly earlier: Earlier;
  },
): NamedReference[] {
  const { fields } = context.level.shape;
  return [...changed].flatMap((name) =>
    setFieldBack(doc, {
      path: name,
      field: fields.get(name),
      value: values[name],
      now: current[name],
      newest: newest.get(name),
    })
  );
}

interface FieldChange {
  readonly path: string;
  readonly field: FieldShape | undefined;
  readonly value: unknown;
  readonly now: unknown;
  readonly newest: unknown;
}

function setFieldBack(
  doc: Document,
  { path, field, value, now, newest }: FieldChange,
): NamedReference[] {
  if (!isSetBack(field)) return [];
  const type = (doc.constructor as Model<unknown>).schema.path(path) ?? field.type;
  if (type === undefined) {
    // A nested object of dotted paths has no type in Mongoose to cast it, so each field is restored separately.
    return [...field.shape?.fields ?? []].flatMap(([name, inner]) =>
      setFieldBack(doc, {
        path: `${path}.${name}`,
        field: inner,
        value: valueAt(value, name),
        now: valueAt(now, name),
        newest: valueAt(newest, name),
      })
    );
  }
  const earlier = settled(value, { now, newest, field });
  const isSame = storedText(earlier) === storedText(now);
  // The stored value is right already, and Mongoose's cast, which differs, must not overwrite it.
  if (isSame && storedText(valueAt(valuesToStore(doc), path)) !== storedText(now)) return [];
  if (isSame) noteSet(doc, [path]);
  else {
    setStored(doc, { path, type, value: earlier });
    keepUncastValues(doc, { path, value: earlier });
  }
  // The write replaces the whole value, so it fails if another request has changed a part meanwhile.
  if (field.kind !== "scalar") factsOf(doc).readByHooks = [...factsOf(doc).readByHooks ?? [], path];
  return isSame ? [] : referencesIn(earlier, { path, field });
}

function isSetBack(field: FieldShape | undefined): field is FieldShape {
  return field !== undefined && field.writable && whyUnseen(field) === undefined &&
    !isSetOnce(field);
}

interface Settled {
  readonly now: unknown;
  readonly newest: unknown;
  readonly field: FieldShape;
}

/**
 * Fields that the caller cannot set keep their present values. In a list, the present object has the same `_id`, or
 * else equal values.
 */
function settled(value: unknown, { now, newest, field }: Settled): unknown {
  const { kind, shape, element } = field;
  if (kind === "object" && shape !== undefined && isJsonObject(value)) {
    return settledIn(value, { now: objectIn(now), newest: objectIn(newest), shape });
  }
  if (element === undefined) return value;
  if (kind === "map" && isJsonObject(value)) {
    const [held, last] = [objectIn(now) ?? {}, objectIn(newest) ?? {}];
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        settled(each, { now: held[key], newest: last[key], field: element }),
      ]),
    );
  }
  if (kind !== "array" || !Array.isArray(value)) return value;
  const take = takerFrom(now, element.shape);
  const last = takerFrom(newest, element.shape);
  return value.map((each) =>
    settled(each, { now: take(each), newest: last(each), field: element })
  );
}

function objectIn(value: unknown): StoredObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Returns each of several equal objects once, or else two would be restored from the same one. */
function takerFrom(list: unknown, shape: Shape | undefined): (earlier: unknown) => unknown {
  const recorded = shape?.schema && shapeForAll(shape.schema);
  const keyOf = (each: StoredObject) =>
    storedText(each._id ?? (recorded ? recordedValues(each, recorded) : each));
  const objects = Array.isArray(list) ? list.filter(isJsonObject) as StoredObject[] : [];
  const byKey = Map.groupBy(objects, keyOf);
  return (earlier) => isJsonObject(earlier) ? byKey.get(keyOf(earlier))?.shift() : undefined;
}

interface SettledObject {
  readonly now: StoredObject | undefined;
  readonly newest: StoredObject | undefined;
  readonly shape: Shape;
}

function settledIn(
  value: StoredObject,
  { now, newest, shape }: SettledObject,
): StoredObject {
  const names = new Set([...Object.keys(now ?? newest ?? {}), ...Object.keys(value)]);
  const entries = [...names].flatMap((name) => {
    const field = strictestField(name, shape);
    const from = now === undefined
      ? returning(field, { value, newest })
      : isSetBack(shape.fields.get(name))
      ? value
      : now;
    if (!Object.hasOwn(from, name)) return [];
    if (from === now || field === undefined) return [[name, from[name]]];
    return [[name, settled(from[name], { now: now?.[name], newest: newest?.[name], field })]];
  });
  return Object.fromEntries(entries);
}

/**
 * Restores a removed object. A read-only field gets its last value, which may be newer than the restored version.
 * Fields that the caller cannot see are left out, as are files, whose bytes may be gone.
 */
function returning(
  field: FieldShape | undefined,
  { value, newest }: { readonly value: StoredObject; readonly newest: StoredObject | undefined },
): StoredObject {
  if (field === undefined) return value;
  if (whyUnseen(field) !== undefined || field.managed) return {};
  return field.readonly ? newest ?? {} : value;
}

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

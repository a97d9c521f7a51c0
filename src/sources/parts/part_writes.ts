import mongoose from "mongoose";
import type { ClientSession, Document, PipelineStage } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { everyFilter, type Filter, isEmpty } from "../../filter/filters.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { appliedFields } from "../../store/writes/applied_fields.ts";
import { holdStored } from "../../write/hold_stored.ts";
import { factsOf } from "../../write/document_facts.ts";
import { writtenBy } from "../../write/set_paths.ts";
import {
  setFields,
  type Stamps,
  storedList,
  type StoredObject,
  storedText,
  valueAt,
} from "../../store/values.ts";
import { readSnapshot } from "../../write/stored_values.ts";
import { enteredObjects, replacedPaths } from "../../write/update_conditions.ts";
import { isObjectAt, isSentBack, unchangedAt } from "../../store/writes/conditions.ts";
import { aggregateDocument } from "../../store/parts/aggregate_document.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import {
  changePlace,
  insideOf,
  intoStages,
  isExpressible,
  withValues,
} from "../../store/parts/part_path.ts";
import type { PartPath } from "../../store/parts/part_path.ts";
import type { WrittenPart } from "../../store/parts/written_part.ts";

interface PropertyWrite {
  readonly link: PartLink;
  readonly session?: ClientSession | undefined;
}

export interface Addition extends PropertyWrite {
  readonly values: readonly unknown[];
  /** By default, the property must be empty, so that no value is replaced. */
  readonly vacant?: Filter;
  readonly reads?: "version" | undefined;
  /** Values to store too in the object that has the property, such as a time. */
  readonly stamps?: Stamps | undefined;
}

/**
 * `undefined` if the parent is gone, has a single value already, or has the entity from another request with the same
 * idempotency key.
 */
export async function addToProperty(
  place: PartPath,
  { link, values, vacant = { [link.property]: null }, session, reads, stamps }: Addition,
): Promise<WrittenPart | undefined> {
  const { property, array, embedded } = link;
  if (!array) {
    const set = { [property]: values[0] };
    return await changePlace(place, {
      update: withValues({ $set: set }, stamps),
      condition: vacant,
      session,
      reads,
    });
  }
  return await changePlace(place, {
    update: { [embedded ? "$push" : "$addToSet"]: { [property]: { $each: values } } },
    condition: embedded ? { [`${property}._id`]: { $nin: values.flatMap(idOf) } } : {},
    onlyIf: { $or: [{ [property]: { $exists: false } }, isList(property)] },
    session,
    reads,
  });
}

function idOf(value: unknown): unknown[] {
  const { _id } = Object(value) as { _id?: unknown };
  return isObjectId(_id) ? [_id] : [];
}

export interface Unlinking extends PropertyWrite {
  readonly ids: readonly unknown[];
  readonly areThere: boolean;
}

export async function takeFromProperty(
  place: PartPath,
  { link: { property, array }, ids, session, areThere }: Unlinking,
): Promise<WrittenPart | undefined> {
  if (!array) {
    return await changePlace(place, {
      update: { $unset: { [property]: 1 } },
      condition: { [property]: ids[0] },
      session,
    });
  }
  const named = { $in: ids.flatMap(formsOf) };
  return await changePlace(place, {
    update: { $pull: { [property]: named } },
    condition: areThere ? { [property]: named } : {},
    onlyIf: isList(property),
    session,
  });
}

/** A reference may be stored as an ObjectId or as its string. */
function formsOf(id: unknown): unknown[] {
  if (isObjectId(id)) return [id, String(id)];
  const isHex = typeof id === "string" && /^[0-9a-f]{24}$/.test(id);
  return isHex ? [id, new mongoose.Types.ObjectId(id)] : [id];
}

function isList(property: string): Filter {
  return { [property]: { $type: "array" } };
}

export function checkRequired({ property, array, required }: PartLink): void {
  if (array || !required) return;
  const problem = { message: `Field "${property}" is required`, kind: "required" };
  throw new StoreFailure({ kind: "invalid", problems: { [property]: problem } });
}

export interface UpdateElementOptions {
  readonly place: PartPath;
  readonly condition: Filter;
  readonly shape: Shape;
}

/** The update has conditions on `paths` and `entered`, or else it would overwrite a change of another request. */
function changeOf(doc: Document, shape: Shape) {
  const { values: read, isSent } = readSnapshot(doc);
  const update: Update = writtenBy(doc).changes;
  // An object from a `fetch` hook may differ from the stored one and has no version, so nothing is compared.
  const { readByHooks: names = [] } = factsOf(doc);
  const readPaths = names.filter((path) => isSentBack(valueAt(read, path)));
  const paths = isSent ? [...replacedPaths(update, { shape, stored: read }), ...readPaths] : [];
  const entered = isSent ? enteredObjects(update, { shape, stored: read }) : [];
  return { doc, read, update, paths, entered };
}

/** Throws "changed" if the object is gone, or a value on which the changes depend has changed. */
export async function updateElement(
  doc: Document,
  { place, condition, shape }: UpdateElementOptions,
): Promise<Version | undefined> {
  const { read, update, paths, entered } = changeOf(doc, shape);
  const expected = setFields({ ...read }, appliedFields(read, update));
  const written = await changePlace(place, {
    update,
    condition: everyFilter(
      condition,
      ...entered.map(isObjectAt),
      ...paths.map((path) => unchangedAt(path, read)),
    ),
    session: doc.$session() ?? undefined,
    reads: "part",
  });
  if (written === undefined) throw new StoreFailure({ kind: "changed" });
  factsOf(doc).set = undefined;
  const { part: stored, version } = written;
  if (stored !== undefined) holdStored(doc, { expected, stored, others: new Set() });
  return version;
}

export interface UpdateElementsOptions extends UpdateElementOptions {
  readonly property: string;
  /** The cast scope must hold before and after the update. */
  readonly scope: Filter;
}

export async function updateElements(
  docs: readonly Document[],
  { place, property, condition, scope, shape }: UpdateElementsOptions,
): Promise<void> {
  if (docs.length === 0) return;
  const changes = docs.map((doc) => changeOf(doc, shape));
  const named = { _id: { $in: changes.map(({ read }) => read._id) } };
  const areAll = async (list: readonly unknown[], ...filters: Filter[]) => {
    const match = { $match: everyFilter(named, ...filters) } as PipelineStage;
    const stages = [...intoStages(property, true), match];
    const found = await aggregateDocument(place.model, { document: { [property]: list }, stages });
    return found.length === docs.length;
  };
  const isWritten = await changePlace(place, {
    update: { $set: { [property]: [] } },
    onlyIf: null,
    async apply({ [property]: stored }) {
      const list = storedList(stored);
      if (!await areAll(list, scope, condition)) throw new StoreFailure({ kind: "changed" });
      const elements = new Map(
        list.filter(isJsonObject).map((each) => [storedText(each._id), each as StoredObject]),
      );
      for (const { read, update, paths, entered } of changes) {
        const now = elements.get(storedText(read._id));
        const isSame = (path: string) =>
          storedText(valueAt(now, path)) === storedText(valueAt(read, path));
        const isThere = (path: string) => isJsonObject(valueAt(now, path));
        if (now === undefined || !paths.every(isSame) || !entered.every(isThere)) {
          throw new StoreFailure({ kind: "changed" });
        }
        setFields(now, appliedFields(now, update));
      }
      if (!await areAll(list, scope)) throw new StoreFailure({ kind: "outOfScope" });
      return { [property]: list };
    },
  });
  if (!isWritten) throw new StoreFailure({ kind: "changed" });
  for (const doc of docs) factsOf(doc).set = undefined;
}

/** An object without an identifier is found by all its stored values. */
export type ElementKey = { readonly id: unknown } | { readonly text: string };

export function elementKey(stored: StoredObject): ElementKey {
  // A query for the identifier `null` also matches an object without identifier.
  const { _id: id = null } = stored;
  return id === null ? { text: storedText(stored) } : { id };
}

export interface Removal {
  readonly property: string;
  readonly keys: readonly ElementKey[];
  readonly filter: Filter;
  /**
   * In the order of `keys`. An element stays if another request has changed a value by which a hook has allowed its
   * removal.
   */
  readonly unchanged?: readonly Filter[];
}

/** Throws "changed" if the parent or the only object is gone, or if an object without an identifier has changed. */
export async function removeElements(
  parent: PartPath,
  { property, keys, filter, unchanged = [] }: Removal,
): Promise<void> {
  if (keys.length === 0) return;
  const ids = keys.flatMap((key) => "id" in key ? [key.id] : []);
  const texts = keys.flatMap((key) => "text" in key ? [key.text] : []);
  const each = keys.flatMap((key, at) =>
    "id" in key ? [everyFilter({ _id: key.id }, unchanged[at] ?? {})] : []
  );
  const isBound = each.length > 0 && !unchanged.every(isEmpty);
  const named = everyFilter(isBound ? { $or: each } : { _id: { $in: ids } }, filter);
  const isOneStatement = texts.length === 0 && isExpressible(filter);
  let isReached = false;
  const isWritten = await changePlace(parent, {
    update: { $pull: { [property]: named } },
    onlyIf: !isOneStatement
      ? null
      : ids.length === 1
      ? { [property]: { $elemMatch: named } }
      : isList(property),
    async apply({ [property]: stored }) {
      isReached = true;
      const list = storedList(stored);
      const stages = [...intoStages(property, true), { $match: named }] as PipelineStage[];
      const document = { [property]: list };
      const found = await aggregateDocument(parent.model, { document, stages });
      const gone = [...found.map(storedText), ...texts];
      // Of equal objects without an identifier, only as many as were selected are removed.
      const rest = list.filter((each) => {
        const index = gone.indexOf(storedText(each));
        if (index >= 0) gone.splice(index, 1);
        return index < 0;
      });
      if (gone.length > 0) throw new StoreFailure({ kind: "changed" });
      return rest.length < list.length ? { [property]: rest } : undefined;
    },
  });
  if (!isWritten && (!isReached || keys.length === 1)) throw new StoreFailure({ kind: "changed" });
}

export async function removeOnly(
  parent: PartPath,
  { property, filter, stamps }: Pick<Removal, "property" | "filter"> & Pick<Addition, "stamps">,
): Promise<void> {
  const isRemoved = await changePlace(parent, {
    update: withValues({ $unset: { [property]: 1 } }, stamps),
    onlyIf: isExpressible(filter) ? insideOf(property, filter) : null,
    async apply({ [property]: stored }) {
      const stages = [...intoStages(property, false), { $match: filter }] as PipelineStage[];
      const document = { [property]: stored };
      const found = await aggregateDocument(parent.model, { document, stages });
      return found.length > 0 ? { ...stamps, [property]: undefined } : undefined;
    },
  });
  if (!isRemoved) throw new StoreFailure({ kind: "changed" });
}

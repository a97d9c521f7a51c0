import type { Document } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import type { Filter } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { rawValues } from "../../schema/mongoose/documents/raw_values.ts";
import { changesOf } from "../../schema/mongoose/documents/shown_defaults.ts";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import type { Update } from "../../schema/mongoose/statements/write_as_is.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import { isPathRefused } from "../../write/save/document_statement.ts";
import { mergeFresh, takeFreshObjects } from "../../write/save/fresh_objects.ts";
import { areUnchanged, replacedArrays } from "../../write/save/replaced_arrays.ts";
import { valueAt } from "../../write/stored_values.ts";
import type { Place } from "../place/place.ts";
import { rewritePlace, updatePlace } from "../place/update_place.ts";

export interface UpdateElementOptions {
  readonly place: Place;
  /** What must hold of it, cast. */
  readonly condition: Filter;
  readonly shape: Shape;
}

/**
 * Writes the changes of an embedded document.
 *
 * @returns Whether the document shows what is stored then.
 * @throws {RestError} 409 if it is gone, or an array that it replaces has changed.
 */
export async function updateElement(
  doc: Document,
  { place, condition, shape }: UpdateElementOptions,
): Promise<boolean> {
  const fresh = takeFreshObjects(doc);
  const changes = changesOf(doc);
  const before = keptValues(doc);
  // A hook may have replaced an object that is there.
  const objects = fresh.filter(({ path }) => !isJsonObject(valueAt(before, path)));
  const isIndependent = objects.length === 0 && replacedArrays(changes, shape).length === 0;
  if (isIndependent && await updateAsIs(place, changes, { condition })) return true;
  let isMerged = false;
  const make = (stored: StoredObject) => {
    const { update } = mergeFresh(changes, { objects, stored });
    const arrays = before === undefined ? [] : replacedArrays(update, shape);
    if (!areUnchanged(arrays, { before, now: stored })) return undefined;
    isMerged = objects.some(({ path }) => isJsonObject(valueAt(stored, path)));
    return moveUpdate(fitUpdate(update, doc, { stored }), place);
  };
  if (!await rewritePlace(place, make, { condition })) throw conflict();
  return !isMerged;
}

/** Writes changes as they are; `false` if a path leads through a value that is no object. */
async function updateAsIs(
  place: Place,
  changes: Update,
  options: { readonly condition: Filter },
): Promise<boolean> {
  try {
    if (await updatePlace(place, moveUpdate(changes, place), options)) return true;
  } catch (error) {
    if (isPathRefused(error)) return false;
    throw error;
  }
  throw conflict();
}

/** Gives an update of an entity with paths from the root. */
function moveUpdate(update: Update, place: Place): Update {
  const moved = Object.entries(update).map(([operator, paths]) => [
    operator,
    Object.fromEntries(Object.entries(paths).map(([path, value]) => [place.path(path), value])),
  ]);
  return Object.fromEntries(moved);
}

/** Replaces paths through values that are no objects: the whole value is written. */
function fitUpdate(
  { $set = {}, ...rest }: Update,
  doc: Document,
  { stored }: { readonly stored: StoredObject },
): Update {
  const entries = Object.entries($set).map(([path, value]) => {
    const end = endOf(path, stored);
    return end === path ? [path, value] : [end, rawValueAt(rawValues(doc), end)];
  });
  return { ...rest, $set: Object.fromEntries(entries) };
}

/** A path, up to the first value on its way that is no object. */
function endOf(path: string, stored: StoredObject): string {
  const names = path.split(".");
  let value: unknown = stored;
  for (const [index, name] of names.entries()) {
    if (!holds(value, name)) return names.slice(0, index).join(".");
    value = (value as StoredObject)[name];
    if (value === undefined) return path;
  }
  return path;
}

function holds(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return /^\d+$/.test(name);
  return typeof value === "object" && value !== null;
}

function rawValueAt(values: unknown, path: string): unknown {
  return path.split(".").reduce(
    (value, name) =>
      value instanceof Map ? value.get(name) : (value as StoredObject | undefined)?.[name],
    values,
  );
}

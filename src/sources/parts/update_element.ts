import type { Document } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { changesOf, rawValues } from "../../schema/mongoose/documents/document_values.ts";
import { keepShown } from "../../schema/mongoose/statements/find_kept.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import { replacedPaths } from "../../write/save/replaced_paths.ts";
import { unchangedAt } from "../../write/save/same_as_stored.ts";
import { isPathRefused } from "../../write/save/save_document.ts";
import { shownValues } from "../../write/stored_values.ts";
import type { Place } from "../place/place.ts";
import { updatePlace } from "../place/update_place.ts";

export interface UpdateElementOptions {
  readonly place: Place;
  /** What must hold of it, cast. */
  readonly condition: Filter;
  readonly shape: Shape;
}

/**
 * Writes the changes of an embedded document.
 *
 * @throws {RestError} 409 if it is gone, or has changed in what the update depends on.
 */
export async function updateElement(
  doc: Document,
  { place, condition, shape }: UpdateElementOptions,
): Promise<void> {
  const { values: stored, isSent } = keepShown(doc, shownValues);
  const update = fitUpdate(changesOf(doc), doc, { stored });
  // What a hook has read may differ from what is stored, and an element has no version of its own.
  const paths = isSent ? replacedPaths(update, { shape, stored }) : [];
  const unchanged = paths.map((path) => unchangedAt(path, stored));
  const options = { condition: everyFilter(condition, ...unchanged) };
  try {
    if (await updatePlace(place, moveUpdate(update, place), options)) return;
  } catch (error) {
    throw isPathRefused(error) ? conflict(error) : error;
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

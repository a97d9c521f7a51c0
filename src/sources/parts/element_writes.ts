import type { Document, PipelineStage } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { changesOf } from "../../schema/mongoose/documents/document_values.ts";
import { keepShown } from "../../schema/mongoose/statements/find_kept.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { replacedPaths, unchangedAt } from "../../write/update_conditions.ts";
import { isPathRefused } from "../../write/save_document.ts";
import { shownValues, storedText } from "../../write/stored_values.ts";
import type { StoredObject } from "../../write/stored_values.ts";
import { intoStages, isExpressible } from "../place/place.ts";
import type { Place } from "../place/place.ts";
import { aggregateDocument, rewritePlace, updatePlace } from "../place/update_place.ts";
import type { MakeUpdate } from "../place/update_place.ts";
import { isList, storedList } from "./part_property.ts";

export interface UpdateElementOptions {
  readonly place: Place;
  /** The condition on the element, cast. */
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
  const update: Update = changesOf(doc);
  // A `fetch` hook may have read other values than those stored, and an element has no version of its own.
  const paths = isSent ? replacedPaths(update, { shape, stored }) : [];
  const unchanged = paths.map((path) => unchangedAt(path, stored));
  const session = doc.$session() ?? undefined;
  const options = { condition: everyFilter(condition, ...unchanged), session };
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

/** The identifier of an element, or all that is stored of one that has none. */
export type ElementKey = { readonly id: unknown } | { readonly text: string };

export function elementKey(stored: StoredObject): ElementKey {
  // To the database `null` and a missing identifier are the same.
  const { _id: id = null } = stored;
  return id === null ? { text: storedText(stored) } : { id };
}

export interface Removal {
  readonly property: string;
  readonly keys: readonly ElementKey[];
  /** The condition on those that have an identifier, cast. */
  readonly filter: Filter;
}

/** Removes elements of an array. Throws a 409 if the only one is gone, or one without identifier has changed. */
export async function removeElements(parent: Place, removal: Removal): Promise<void> {
  const { property, keys, filter } = removal;
  if (keys.length === 0) return;
  const ids = keys.flatMap((key) => "id" in key ? [key.id] : []);
  const path = parent.path(property);
  const named = everyFilter({ _id: { $in: ids } }, filter);
  const texts = keys.flatMap((key) => "text" in key ? [key.text] : []);
  let isReached = false;
  const otherwise: MakeUpdate = async ({ [property]: stored }) => {
    isReached = true;
    const list = storedList(stored);
    const stages = [...intoStages(property, true), { $match: named }] as PipelineStage[];
    const found = ids.length === 0
      ? []
      : await aggregateDocument(parent.model, { root: { [property]: list }, stages });
    // Of equal elements without identifier, as many are removed as were selected.
    const left = new Map<string, number>();
    for (const text of [...found.map(storedText), ...texts]) {
      left.set(text, (left.get(text) ?? 0) + 1);
    }
    const rest = list.filter((each) => {
      const text = storedText(each);
      const count = left.get(text) ?? 0;
      left.set(text, count - 1);
      return count <= 0;
    });
    if (texts.some((text) => (left.get(text) ?? 0) > 0)) throw conflict();
    return rest.length < list.length ? { $set: { [path]: rest } } : undefined;
  };
  const condition = ids.length === 1 ? { [property]: { $elemMatch: named } } : isList(property);
  const isWritten = texts.length === 0 && isExpressible(filter)
    ? await updatePlace(parent, { $pull: { [path]: named } }, { condition, otherwise })
    : await rewritePlace(parent, otherwise, { property });
  if (!isWritten && (!isReached || keys.length === 1)) throw conflict();
}

import type { PipelineStage } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import type { Filter } from "../../filter/filters.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import { storedText } from "../../write/stored_values.ts";
import { askStored } from "../place/ask_stored.ts";
import type { Place } from "../place/place.ts";
import { intoStages, isExpressible } from "../place/steps.ts";
import { isOneStatement, rewritePlace, updatePlace } from "../place/update_place.ts";
import { isList, storedList } from "./stored_list.ts";

/** What names an element: its identifier, or all that is stored of one that has none. */
export type ElementMark = { readonly id: unknown } | { readonly text: string };

export function markElement(stored: StoredObject): ElementMark {
  // To the database `null` and a missing identifier are the same.
  const { _id: id = null } = stored;
  return id === null ? { text: storedText(stored) } : { id };
}

export interface Removal {
  readonly property: string;
  readonly marks: readonly ElementMark[];
  /** What must still hold of those that have an identifier, cast. */
  readonly filter: Filter;
}

/** Removes elements of an array. Throws a 409 if the only one is gone, or one without identifier has changed. */
export async function removeElements(parent: Place, removal: Removal): Promise<void> {
  if (removal.marks.length === 0 || await pull(parent, removal)) return;
  const { property } = removal;
  let reached = false;
  const make = async (entity: StoredObject): Promise<Update | undefined> => {
    reached = true;
    const list = storedList(entity[property]);
    const rest = await remaining(list, parent, removal);
    return rest.length < list.length ? { $set: { [parent.path(property)]: rest } } : undefined;
  };
  const written = await rewritePlace(parent, make, { property });
  if (!written && (!reached || removal.marks.length === 1)) throw conflict();
}

/** Removes elements by their identifiers, where one statement can. */
async function pull(parent: Place, { property, marks, filter }: Removal): Promise<boolean> {
  const ids = marks.flatMap((mark) => "id" in mark ? [mark.id] : []);
  if (ids.length < marks.length || !isExpressible(filter)) return false;
  const named = everyFilter({ _id: { $in: ids } }, filter);
  const update = { $pull: { [parent.path(property)]: named } };
  const condition = ids.length === 1 ? { [property]: { $elemMatch: named } } : isList(property);
  return isOneStatement(parent, update, { condition }) &&
    await updatePlace(parent, update, { condition });
}

/** What is left of a stored list. Of equal elements without identifier, as many go as were named. */
async function remaining(
  list: readonly unknown[],
  { model }: Place,
  { property, marks, filter }: Removal,
): Promise<unknown[]> {
  const ids = marks.flatMap((mark) => "id" in mark ? [mark.id] : []);
  const stages = [
    ...intoStages(property, true),
    { $match: everyFilter({ _id: { $in: ids } }, filter) },
  ] as PipelineStage[];
  const named = ids.length === 0
    ? []
    : await askStored(model, { root: { [property]: list }, stages });
  const texts = marks.flatMap((mark) => "text" in mark ? [mark.text] : []);
  const left = countsOf([...named.map(storedText), ...texts]);
  const rest = list.filter((each) => !take(left, storedText(each)));
  if (texts.some((text) => (left.get(text) ?? 0) > 0)) throw conflict();
  return rest;
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function take(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  if (count > 0) counts.set(text, count - 1);
  return count > 0;
}

import type { PipelineStage } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { StoredObject, Update } from "../../write/apply_update.ts";
import { storedText } from "../../write/stored_text.ts";
import { askStored } from "./ask_stored.ts";
import type { Place } from "./place.ts";
import { intoStages, isSayable } from "./place_steps.ts";
import { isList, storedList } from "./stored_list.ts";

/** What names an element: its identifier, or all that is stored of one that has none. */
export type ElementMark = { readonly id: unknown } | { readonly text: string };

/** Gives the mark of an element as it is stored. */
export function markElement(stored: StoredObject): ElementMark {
  // The database takes `null` for a missing field.
  const { _id: id = null } = stored;
  return id === null ? { text: storedText(stored) } : { id };
}

/** Elements that are to be removed. */
export interface Removal {
  /** The property of the parent. */
  readonly property: string;
  /** What names them. */
  readonly marks: readonly ElementMark[];
  /** What must still hold of those that have an identifier, cast. */
  readonly filter: Filter;
}

/**
 * Removes elements of an array.
 *
 * @throws {RestError} 409 if the only one, or one without identifier, is not there any more as it was.
 */
export async function removeElements(parent: Place, removal: Removal): Promise<void> {
  if (removal.marks.length === 0 || await pull(parent, removal)) return;
  const { property } = removal;
  let reached = false;
  const make = async (entity: StoredObject): Promise<Update | undefined> => {
    reached = true;
    const list = storedList(entity[property]);
    const rest = await remaining(parent, list, removal);
    return rest.length < list.length ? { $set: { [parent.path(property)]: rest } } : undefined;
  };
  const written = await parent.rewrite(make, { property });
  if (!written && (!reached || removal.marks.length === 1)) throw conflict();
}

/** Removes elements by their identifiers, where one statement can say all of it. */
async function pull(parent: Place, { property, marks, filter }: Removal): Promise<boolean> {
  const ids = marks.flatMap((mark) => "id" in mark ? [mark.id] : []);
  if (ids.length < marks.length || !isSayable(filter)) return false;
  const doomed = everyFilter({ _id: { $in: ids } }, filter);
  const update = { $pull: { [parent.path(property)]: doomed } };
  const condition = ids.length === 1 ? { [property]: { $elemMatch: doomed } } : isList(property);
  return !parent.isGuarded(update, { condition }) && await parent.tryUpdate(update, { condition });
}

/** What is left of a stored list. Of elements that are equal, as many go as were named. */
async function remaining(
  { model }: Place,
  list: readonly unknown[],
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
  const doomed = countsOf([...named.map(storedText), ...texts]);
  const rest = list.filter((each) => !take(doomed, storedText(each)));
  if (texts.some((text) => (doomed.get(text) ?? 0) > 0)) throw conflict();
  return rest;
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Takes one of what is counted; tells whether there was one. */
function take(counts: Map<string, number>, text: string): boolean {
  const count = counts.get(text) ?? 0;
  if (count > 0) counts.set(text, count - 1);
  return count > 0;
}

import type { ClientSession } from "mongoose";
import { storedText } from "../../write/stored_values.ts";
import type { Place } from "../place/place.ts";
import { rewritePlace, updatePlace } from "../place/update_place.ts";

/** What is stored where a list belongs, as a list: Mongoose too reads a single value as a list of one. */
export function storedList(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

export interface ListChange {
  readonly property: string;
  readonly values: readonly unknown[];
  readonly session?: ClientSession | undefined;
}

/** Adds values at the end of a list that a place holds; `false` if the place is gone. */
export async function addToList(
  place: Place,
  { property, values, session }: ListChange,
): Promise<boolean> {
  const path = place.path(property);
  const condition = { $or: [{ [property]: { $exists: false } }, isList(property)] };
  const update = { $push: { [path]: { $each: values } } };
  if (await updatePlace(place, update, { condition, session })) return true;
  // The place is gone, or what is stored there is no list: then it is rewritten as one.
  return await rewritePlace(
    place,
    ({ [property]: stored }) =>
      Array.isArray(stored) ? update : { $set: { [path]: [...storedList(stored), ...values] } },
    { property, session },
  );
}

/** Takes values out of a list that a place holds; `false` if the place is gone. */
export async function takeFromList(
  place: Place,
  { property, values, session }: ListChange,
): Promise<boolean> {
  const path = place.path(property);
  const update = { $pull: { [path]: { $in: values } } };
  if (await updatePlace(place, update, { condition: isList(property), session })) return true;
  const texts = new Set(values.map(storedText));
  return await rewritePlace(place, ({ [property]: stored }) => {
    const rest = storedList(stored).filter((each) => !texts.has(storedText(each)));
    return { $set: { [path]: rest } };
  }, { property, session });
}

export function isList(property: string): Record<string, unknown> {
  return { [property]: { $type: "array" } };
}

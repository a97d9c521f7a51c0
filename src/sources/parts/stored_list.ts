import type { ClientSession } from "mongoose";
import { storedText } from "../../write/stored_text.ts";
import type { Place } from "./place.ts";

/** Gives what is stored in the place of a list as one. A single value is a list of it, as Mongoose reads it. */
export function storedList(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** A value on its way into a list. */
export interface Addition {
  /** The property that holds the list. */
  readonly property: string;
  /** The value, as it is to be stored. */
  readonly value: unknown;
  /** The session of a transaction. */
  readonly session?: ClientSession | undefined;
}

/** Adds a value at the end of a list that a place holds; `false` says that the place is not there any more. */
export async function addToList(
  place: Place,
  { property, value, session }: Addition,
): Promise<boolean> {
  const path = place.path(property);
  const condition = { $or: [{ [property]: { $exists: false } }, isList(property)] };
  if (await place.tryUpdate({ $push: { [path]: value } }, { condition, session })) return true;
  // The database adds to lists alone: what else is stored there becomes one.
  return await place.rewrite(
    ({ [property]: stored }) =>
      Array.isArray(stored)
        ? { $push: { [path]: value } }
        : { $set: { [path]: [...storedList(stored), value] } },
    { property, session },
  );
}

/** Takes values out of a list that a place holds; `false` says that the place is not there any more. */
export async function takeFromList(
  place: Place,
  { property, values, session }: Removal,
): Promise<boolean> {
  const path = place.path(property);
  const update = { $pull: { [path]: { $in: values } } };
  if (await place.tryUpdate(update, { condition: isList(property), session })) return true;
  const texts = new Set(values.map(storedText));
  return await place.rewrite(({ [property]: stored }) => {
    const rest = storedList(stored).filter((each) => !texts.has(storedText(each)));
    return { $set: { [path]: rest } };
  }, { property, session });
}

/** Values that a list is to lose. */
export interface Removal {
  /** The property that holds the list. */
  readonly property: string;
  /** The values. */
  readonly values: readonly unknown[];
  /** The session of a transaction. */
  readonly session?: ClientSession | undefined;
}

/** The condition that a property holds a list. */
export function isList(property: string): Record<string, unknown> {
  return { [property]: { $type: "array" } };
}

import type { ClientSession } from "mongoose";
import { isObjectId } from "../../schema/mongoose/bson.ts";
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

/**
 * Takes values out of a list that a place holds.
 *
 * @returns `false` if the place is gone, or the values have to be there and none of them is.
 */
export async function takeFromList(
  place: Place,
  { property, values, session, areThere = false }: ListChange & { readonly areThere?: boolean },
): Promise<boolean> {
  const path = place.path(property);
  const update = { $pull: { [path]: { $in: values } } };
  const condition = { [property]: { $type: "array", ...areThere && { $in: values } } };
  if (await updatePlace(place, update, { condition, session })) return true;
  const texts = new Set(values.flatMap(textsOf));
  return await rewritePlace(place, ({ [property]: stored }) => {
    const list = storedList(stored);
    const rest = list.filter((each) => !textsOf(each).some((text) => texts.has(text)));
    return areThere && rest.length === list.length ? undefined : { $set: { [path]: rest } };
  }, { property, session });
}

/** What tells a value from others: as it is stored, and the text of an identifier that is stored as text. */
function textsOf(value: unknown): string[] {
  const { _id: name = value } = Object(value) as { _id?: unknown };
  const isText = typeof name === "string" || isObjectId(name);
  return [storedText(value), ...isText ? [`text ${name}`] : []];
}

export function isList(property: string): Record<string, unknown> {
  return { [property]: { $type: "array" } };
}

import type { ClientSession } from "mongoose";
import { badData } from "../../errors/bad_data.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { isObjectId } from "../../schema/mongoose/bson.ts";
import { storedText } from "../../write/stored_values.ts";
import type { Place } from "../place/place.ts";
import { updatePlace } from "../place/update_place.ts";

/** Gives what is stored where a list belongs as a list: Mongoose too reads a single value as a list of one. */
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
  const update = { $push: { [path]: { $each: values } } };
  return await updatePlace(place, update, {
    condition: { $or: [{ [property]: { $exists: false } }, isList(property)] },
    otherwise: ({ [property]: stored }) =>
      Array.isArray(stored) ? update : { $set: { [path]: [...storedList(stored), ...values] } },
    session,
  });
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
  const texts = new Set(values.flatMap(textsOf));
  return await updatePlace(place, { $pull: { [path]: { $in: values } } }, {
    condition: { [property]: { $type: "array", ...areThere && { $in: values } } },
    otherwise({ [property]: stored }) {
      const list = storedList(stored);
      const rest = list.filter((each) => !textsOf(each).some((text) => texts.has(text)));
      return areThere && rest.length === list.length ? undefined : { $set: { [path]: rest } };
    },
    session,
  });
}

/** Texts that are equal for equal references: a value as it is stored, and an identifier that may be stored as text. */
function textsOf(value: unknown): string[] {
  const { _id: name = value } = Object(value) as { _id?: unknown };
  const isText = typeof name === "string" || isObjectId(name);
  return [storedText(value), ...isText ? [`text ${name}`] : []];
}

export function isList(property: string): Record<string, unknown> {
  return { [property]: { $type: "array" } };
}

/** Checks that a parent may lose what one of its properties holds. Throws a 400 if it is the only one, and required. */
export function checkRequired({ property, array, required }: PartLink): void {
  if (array || !required) return;
  throw badData({ [property]: { message: `Field "${property}" is required`, kind: "required" } });
}

import type { ClientSession } from "mongoose";
import { badData } from "../../errors/refusals.ts";
import type { Filter } from "../../filter/filters.ts";
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

interface PropertyWrite {
  readonly link: PartLink;
  readonly session?: ClientSession | undefined;
}

export interface Addition extends PropertyWrite {
  readonly value: unknown;
  /** The condition on the parent where the property holds only one value; by default, that it holds none. */
  readonly vacant?: Filter;
}

/** Adds a value to a property of a parent, at the end of its list; `false` if the parent is gone, or holds another one. */
export async function addToProperty(
  place: Place,
  { link: { property, array }, value, vacant = { [property]: null }, session }: Addition,
): Promise<boolean> {
  const path = place.path(property);
  if (!array) {
    return await updatePlace(place, { $set: { [path]: value } }, { condition: vacant, session });
  }
  const update = { $push: { [path]: { $each: [value] } } };
  return await updatePlace(place, update, {
    condition: { $or: [{ [property]: { $exists: false } }, isList(property)] },
    otherwise: ({ [property]: stored }) =>
      Array.isArray(stored) ? update : { $set: { [path]: [...storedList(stored), value] } },
    session,
  });
}

export interface Unlinking extends PropertyWrite {
  readonly ids: readonly unknown[];
  /** Whether one of them at least has to be there. */
  readonly areThere: boolean;
}

/** Takes references out of a property of a parent; `false` if the parent is gone, or they are not there. */
export async function takeFromProperty(
  place: Place,
  { link: { property, array }, ids, session, areThere }: Unlinking,
): Promise<boolean> {
  const path = place.path(property);
  if (!array) {
    const condition = { [property]: ids[0] };
    return await updatePlace(place, { $unset: { [path]: 1 } }, { condition, session });
  }
  const texts = new Set(ids.flatMap(textsOf));
  return await updatePlace(place, { $pull: { [path]: { $in: ids } } }, {
    condition: { [property]: { $type: "array", ...areThere && { $in: ids } } },
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

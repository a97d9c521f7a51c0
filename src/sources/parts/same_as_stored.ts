import { isJsonObject } from "../../schema/fields/json.ts";
import { isExact } from "../../write/save/pin.ts";

/** The variable that holds what is compared. */
const AT = "$$at";

/** How deep objects are compared member by member: the database takes no condition that is nested much deeper. */
const MOST_DEPTH = 20;

/**
 * Gives the expression that tells whether something is stored as it was read. The database compares objects with the
 * order of their keys, which is lost here where keys are numbers: their members are compared one by one.
 */
export function sameAsStored(expression: unknown, value: unknown, depth = 0): unknown {
  const isWhole = isExact(value) || depth >= MOST_DEPTH;
  if (!isWhole && Array.isArray(value)) {
    const members = value.map((each, index) =>
      sameAsStored({ $arrayElemAt: [AT, index] }, each, depth + 1)
    );
    return holds(expression, { type: "array", size: { $size: AT }, members });
  }
  if (!isWhole && isJsonObject(value)) {
    const members = Object.entries(value).map(([key, each]) =>
      sameAsStored({ $getField: { field: { $literal: key }, input: AT } }, each, depth + 1)
    );
    return holds(expression, { type: "object", size: { $size: { $objectToArray: AT } }, members });
  }
  return { $eq: [expression, { $literal: value }] };
}

/** What must hold of an object, or of a list. */
interface Holds {
  readonly type: "array" | "object";
  readonly size: unknown;
  readonly members: readonly unknown[];
}

function holds(expression: unknown, { type, size, members }: Holds): unknown {
  const isOfType = { $eq: [{ $type: AT }, type] };
  const same = { $and: [{ $eq: [size, members.length] }, ...members] };
  // Of another type the size would be an error.
  return { $let: { vars: { at: expression }, in: { $cond: [isOfType, same, false] } } };
}

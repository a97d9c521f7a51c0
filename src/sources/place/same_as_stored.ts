import { isJsonObject } from "../../schema/fields/json.ts";
import { isExact } from "../../write/save/pin.ts";

const AT = "$$at";

/** How deep objects are compared member by member: the database refuses conditions that are nested much deeper. */
const MOST_DEPTH = 20;

/**
 * Gives the expression that tells whether something is stored as it was read. It also covers what the filter of `pin()`
 * cannot: objects with numeric keys, whose order is lost here, are compared member by member.
 */
export function sameAsStored(
  expression: unknown,
  { value, depth = 0 }: { readonly value: unknown; readonly depth?: number },
): unknown {
  const comparesWhole = isExact(value) || depth >= MOST_DEPTH;
  const member = (inner: unknown, each: unknown) =>
    sameAsStored(inner, { value: each, depth: depth + 1 });
  if (!comparesWhole && Array.isArray(value)) {
    const members = value.map((each, index) => member({ $arrayElemAt: [AT, index] }, each));
    return holds(expression, { type: "array", size: { $size: AT }, members });
  }
  if (!comparesWhole && isJsonObject(value)) {
    const members = Object.entries(value).map(([key, each]) =>
      member({ $getField: { field: { $literal: key }, input: AT } }, each)
    );
    return holds(expression, { type: "object", size: { $size: { $objectToArray: AT } }, members });
  }
  return { $eq: [expression, { $literal: value }] };
}

interface Holds {
  readonly type: "array" | "object";
  readonly size: unknown;
  readonly members: readonly unknown[];
}

function holds(expression: unknown, { type, size, members }: Holds): unknown {
  const isOfType = { $eq: [{ $type: AT }, type] };
  const same = { $and: [{ $eq: [size, members.length] }, ...members] };
  // The size of another type would be an error.
  return { $let: { vars: { at: expression }, in: { $cond: [isOfType, same, false] } } };
}

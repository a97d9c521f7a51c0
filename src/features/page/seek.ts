// The condition for the entities after a cursor has two parts. An expression selects exactly the entities after the
// cursor, because it compares values as MongoDB sorts them. Plain conditions select roughly the same entities. MongoDB
// can use only the plain conditions as bounds in an index, so that a page at any depth reads the same number of
// entities.
import mongoose from "mongoose";
import { type Filter, markCompiled } from "../../filter/filters.ts";
import type { Order, SortValues } from "../../filter/order.ts";
import { type Projection, shownBy } from "../../filter/projection.ts";
import { fieldsOn } from "../../filter/q/resolve_path.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/**
 * Whether each entity has a single value for each path of an order. A path through an array has several values. A page
 * can continue after an entity only in an order of single values.
 */
export function isOrderOfValues(
  order: Readonly<Record<string, unknown>>,
  shape: Shape,
): order is Order {
  return Object.entries(order).every(([path, direction]) => {
    const depth = path.split(".").length - 1;
    const fields = fieldsOn(path, shape);
    return (direction === 1 || direction === -1) && fields.length >= depth &&
      fields.every(([, { kind }], index) =>
        index < depth ? kind === "object" || kind === "map" : kind !== "array"
      );
  });
}

/**
 * Whether a read shows every field of an order. If a field is hidden, a cursor must not carry the sort values, because
 * the client could read the hidden value in the cursor.
 */
export function isShownOrder(
  order: Order,
  { shape, projection }: { readonly shape: Shape; readonly projection: Projection },
): boolean {
  const shows = shownBy(projection, shape);
  return Object.keys(order).every((path) => {
    const fields = fieldsOn(path, shape);
    return fields.at(-1)?.[0] === path &&
      fields.every(([at, field]) => !field.hidden && shows(at, field));
  });
}

const { Binary, Decimal128, Double, Int32, Long, ObjectId } = mongoose.mongo;

const SCALARS = [Binary, Decimal128, Double, Int32, Long, ObjectId, Uint8Array] as const;

/**
 * Whether a value is a scalar that can be sent back to MongoDB exactly, so that a cursor may carry it. A date outside
 * of JavaScript's range cannot be sent back.
 */
export function isScalar(value: unknown): boolean {
  if (value === null || ["string", "number", "bigint", "boolean"].includes(typeof value)) {
    return true;
  }
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return SCALARS.some((type) => value instanceof type);
}

/** A path of a sort order, with its direction and the sort value of the entity after which a page begins. */
interface Key {
  readonly path: string;
  readonly isAscending: boolean;
  readonly value: unknown;
}

type Expression = Readonly<Record<string, unknown>>;

/**
 * Returns the condition for the entities after another entity in a sort order. The condition has one alternative for
 * each key of the order, so that MongoDB reads an index in this order and begins at the other entity.
 */
export function seek(order: Order, values: SortValues): Filter {
  const keys = keysOf(order, values);
  const alternatives: Filter[] = [];
  for (const [index, key] of keys.entries()) {
    const tied = keys.slice(0, index);
    const ties = tied.flatMap(levelBounds);
    // In a descending order, no value sorts after `null`, so the alternative would match nothing.
    if (key.isAscending || key.value !== null) {
      const bounds = [...ties, ...scanBounds(key, "behind")];
      alternatives.push(every(bounds, [...tied.map(isLevel), isBehind(key)]));
    }
    const rest = keys.slice(index + 1);
    const [next] = rest;
    // Separate alternatives would return entities with `null` in a wrong order. MongoDB merges the results of
    // alternatives by sort value and puts a missing value before `null`, whereas an index treats both as equal. So one
    // alternative covers all remaining keys.
    if (next !== undefined && rest.length > 1 && key.value === null) {
      const bounds = [...ties, ...levelBounds(key), ...scanBounds(next, "from")];
      alternatives.push(every(bounds, [...[...tied, key].map(isLevel), isBehindAny(rest)]));
      break;
    }
  }
  const [only = {}, ...others] = alternatives;
  return others.length === 0 ? only : { $or: alternatives };
}

/**
 * Returns the condition of {@linkcode seek} without alternatives. MongoDB also reads the entities whose first value is
 * equal to the first value of the cursor, and discards the entities before the page.
 *
 * MongoDB 6.0 may read the alternatives of `seek()` from a partial index that a cached plan has chosen for other
 * values. The page would miss the entities that are not in this index.
 */
export function seekInOneScan(order: Order, values: SortValues): Filter {
  const keys = keysOf(order, values);
  const [first] = keys;
  if (first === undefined || keys.length === 1) return seek(order, values);
  return every(scanBounds(first, "from"), [isBehindAny(keys)]);
}

function keysOf(order: Order, values: SortValues): Key[] {
  return Object.entries(order).map(([path, direction]) => ({
    path,
    isAscending: direction === 1,
    value: values[path],
  }));
}

function every(bounds: readonly Filter[], expressions: readonly Expression[]): Filter {
  return { $and: [...bounds, { $expr: markCompiled({ $and: expressions }) }] };
}

/**
 * Builds the expression for entities after the cursor. Such an entity comes after the cursor in one of the keys, and is
 * equal to the cursor in the keys before.
 */
function isBehindAny([key, ...rest]: readonly Key[]): Expression {
  if (key === undefined) return { $or: [] };
  return { $or: [isBehind(key), { $and: [isLevel(key), isBehindAny(rest)] }] };
}

function isBehind(key: Key): Expression {
  return { [key.isAscending ? "$gt" : "$lt"]: placesOf(key) };
}

function isLevel(key: Key): Expression {
  return { $eq: placesOf(key) };
}

/**
 * Returns the stored value by which MongoDB sorts an entity, and the value of the cursor, as operands of a comparison.
 * MongoDB sorts a list by its smallest or greatest element.
 */
function placesOf({ path, value, isAscending }: Key): [unknown, unknown] {
  // An identifier is never a list, so it needs no smallest or greatest element. With the bare path, MongoDB reads the
  // index on `_id` from the cursor on.
  if (path === "_id") return ["$_id", { $literal: value }];
  const first = isAscending ? "$min" : "$max";
  return [{ [first]: `$${path}` }, { [first]: { $literal: value } }];
}

function levelBounds({ path, value }: Key): Filter[] {
  // The condition `null` on a path such as `a.b` does not match every entity without a value at `a.b`. So such a value
  // gets no bound.
  const isBound = isScalar(value) && !(path.includes(".") && value === null);
  return isBound ? [{ [path]: markCompiled({ $eq: value }) }] : [];
}

/**
 * Returns conditions that bound an index scan to the entities after the cursor, or from the cursor on. The conditions
 * negate the opposite comparison, because `$gt` and `$lt` leave out values of other types.
 */
function scanBounds({ path, value, isAscending }: Key, start: "behind" | "from"): Filter[] {
  if (path === "_id" && start === "behind" || !isScalar(value)) return [];
  const passed = `${isAscending ? "$lt" : "$gt"}${start === "behind" ? "e" : ""}`;
  const isNoNull = isAscending && value !== null;
  return [
    { [path]: markCompiled({ $not: { [passed]: value } }) },
    ...isNoNull ? [{ [path]: markCompiled({ $not: { $eq: null } }) }] : [],
  ];
}

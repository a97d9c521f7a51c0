// An expression compares as MongoDB sorts, and plain conditions are bounds in an index, so that a page at any depth
// reads equally many entities.
import mongoose from "mongoose";
import { type Filter, markCompiled } from "../../filter/filters.ts";
import type { Order, SortValues } from "../../filter/order.ts";
import { type Projection, shownBy } from "../../filter/projection.ts";
import { fieldsOn } from "../../filter/q/resolve_path.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/** A path through an array has several values, so the next page would have no definite begin. */
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

/** A cursor may contain only values that return to MongoDB unchanged, or else the next page would begin elsewhere. */
export function isScalar(value: unknown): boolean {
  if (value === null || ["string", "number", "bigint", "boolean"].includes(typeof value)) {
    return true;
  }
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return SCALARS.some((type) => value instanceof type);
}

interface Key {
  readonly path: string;
  readonly isAscending: boolean;
  readonly value: unknown;
}

type Expression = Readonly<Record<string, unknown>>;

/** With one branch of `$or` for each field of the order, MongoDB begins at the entity in an index. */
export function seek(order: Order, values: SortValues): Filter {
  const keys = keysOf(order, values);
  const alternatives: Filter[] = [];
  for (const [index, key] of keys.entries()) {
    const tied = keys.slice(0, index);
    const ties = tied.flatMap(levelBounds);
    // In a descending order, no value comes after `null`.
    if (key.isAscending || key.value !== null) {
      const bounds = [...ties, ...scanBounds(key, "behind")];
      alternatives.push(every(bounds, [...tied.map(isLevel), isBehind(key)]));
    }
    const rest = keys.slice(index + 1);
    const [next] = rest;
    // MongoDB merges several branches with a missing value before `null`, but reads both from an index as equal, so
    // entities would be out of order. After `null`, one branch covers all other fields.
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
 * With `$or`, MongoDB 6.0 may read a partial index that a cached plan chose for other values, and miss entities.
 * Without `$or`, it reads more entities before the page.
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

/** MongoDB sorts a list by its smallest or greatest element. */
function placesOf({ path, value, isAscending }: Key): [unknown, unknown] {
  // With the path alone, MongoDB can begin at the cursor in the index on `_id`.
  if (path === "_id") return ["$_id", { $literal: value }];
  const first = isAscending ? "$min" : "$max";
  return [{ [first]: `$${path}` }, { [first]: { $literal: value } }];
}

function levelBounds({ path, value }: Key): Filter[] {
  // As a bound, `{ "a.b": null }` would not find all entities without a value at `a.b`, so a page would miss some.
  const isBound = isScalar(value) && !(path.includes(".") && value === null);
  return isBound ? [{ [path]: markCompiled({ $eq: value }) }] : [];
}

/** `$gt` and `$lt` would exclude values of other types, so the opposite comparison is negated. */
function scanBounds({ path, value, isAscending }: Key, start: "behind" | "from"): Filter[] {
  if (path === "_id" && start === "behind" || !isScalar(value)) return [];
  const passed = `${isAscending ? "$lt" : "$gt"}${start === "behind" ? "e" : ""}`;
  const isNoNull = isAscending && value !== null;
  return [
    { [path]: markCompiled({ $not: { [passed]: value } }) },
    ...isNoNull ? [{ [path]: markCompiled({ $not: { $eq: null } }) }] : [],
  ];
}

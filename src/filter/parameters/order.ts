// The entities behind a place are selected twice: exactly, by an expression that compares as the database sorts, and
// roughly, by conditions that have bounds in an index, so that a page reads as much at any depth.
import mongoose from "mongoose";
import type { Shape } from "../../schema/fields/shape.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { type Filter, markCompiled } from "../filters.ts";
import { type Projection, shownBy } from "../projection.ts";
import { fieldsOn } from "../q/resolve_path.ts";
import type { Order } from "./read_rules.ts";

/** Options of the driver that keep the type, the digits and the flags of each value that `seek()` compares with. */
export const SEEK_READ = { promoteValues: false, bsonRegExp: true } as const;

/** Where an entity stands in an order: its values by path. */
export type SortValues = Readonly<Record<string, unknown>>;

/** Completes an order: entities that are equal in all else are ordered by `_id`, which no two share. */
export function totalOrder<D>(order: Readonly<Record<string, D>>): Readonly<Record<string, D | 1>> {
  const keys = Object.keys(order);
  const last = keys.indexOf("_id");
  if (last === -1) return { ...order, _id: 1 };
  return Object.fromEntries(Object.entries(order).slice(0, last + 1));
}

/** Whether each entity has one value for each path of an order, so that a page can continue behind an entity. */
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

/** Whether a read shows all that an order compares. */
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

export function sortValues(stored: object, paths: readonly string[]): SortValues {
  return Object.fromEntries(paths.map((path) => [path, valueAt(stored, path)]));
}

/** Gives what is stored at a path; `null` where nothing is. */
export function valueAt(stored: unknown, path: string): unknown {
  return valueBelow(stored, path.split("."));
}

function valueBelow(value: unknown, [name, ...names]: readonly string[]): unknown {
  if (name === undefined) return value ?? null;
  if (Array.isArray(value)) return value.map((each) => valueBelow(each, [name, ...names]));
  return isJsonObject(value) && Object.hasOwn(value, name) ? valueBelow(value[name], names) : null;
}

const { Binary, Decimal128, Double, Int32, Long, ObjectId } = mongoose.mongo;

const SCALARS = [Binary, Decimal128, Double, Int32, Long, ObjectId, Uint8Array] as const;

/** Whether a value is of one of the types that fields are declared with, and as exact here as it is stored. */
export function isScalar(value: unknown): boolean {
  if (value === null || ["string", "number", "bigint", "boolean"].includes(typeof value)) {
    return true;
  }
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return SCALARS.some((type) => value instanceof type);
}

/** A path of an order, and the value there of the entity behind which a page begins. */
interface Key {
  readonly path: string;
  readonly isAscending: boolean;
  readonly value: unknown;
}

type Expression = Readonly<Record<string, unknown>>;

/**
 * Gives the condition of entities that stand behind another one in an order: an alternative for each key, so that an
 * index in that order is read from the entity on.
 */
export function seek(order: Order, values: SortValues): Filter {
  const keys = keysOf(order, values);
  const alternatives: Filter[] = [];
  for (const [index, key] of keys.entries()) {
    const tied = keys.slice(0, index);
    const ties = tied.flatMap(levelBounds);
    // In a descending order, nothing stands behind `null`.
    if (key.isAscending || key.value !== null) {
      const bounds = [...ties, ...scanBounds(key, "behind")];
      alternatives.push(every(bounds, [...tied.map(isLevel), isBehind(key)]));
    }
    const rest = keys.slice(index + 1);
    const [next] = rest;
    // Alternatives are merged by values, where a missing one is before `null`, and not equal to it as in an index:
    // entities that are tied by `null` would come in a wrong order.
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
 * Gives that condition without alternatives: entities of the same first value are read too, and left out.
 *
 * MongoDB 6.0 may read alternatives from a partial index that a cached plan has chosen for other values.
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

/** Whether an entity stands behind the place in one of several keys, and is level with it in those before. */
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

/** The stored value by which the database sorts an entity, and the given one: of a list, the first in the order. */
function placesOf({ path, value, isAscending }: Key): [unknown, unknown] {
  // Identifiers are no lists: by the bare path, the database reads their index from there on.
  if (path === "_id") return ["$_id", { $literal: value }];
  const first = isAscending ? "$min" : "$max";
  return [{ [first]: `$${path}` }, { [first]: { $literal: value } }];
}

function levelBounds({ path, value }: Key): Filter[] {
  // Not all that has nothing at a longer path is equal to `null` there.
  const isBound = isScalar(value) && !(path.includes(".") && value === null);
  return isBound ? [{ [path]: markCompiled({ $eq: value }) }] : [];
}

/** Gives the bounds of the entities behind a place, or from there on. A comparison alone would leave out other types. */
function scanBounds({ path, value, isAscending }: Key, start: "behind" | "from"): Filter[] {
  if (path === "_id" && start === "behind" || !isScalar(value)) return [];
  const passed = `${isAscending ? "$lt" : "$gt"}${start === "behind" ? "e" : ""}`;
  const isNoNull = isAscending && value !== null;
  return [
    { [path]: markCompiled({ $not: { [passed]: value } }) },
    ...isNoNull ? [{ [path]: markCompiled({ $not: { $eq: null } }) }] : [],
  ];
}

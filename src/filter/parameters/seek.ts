// The entities behind a place are selected twice: exactly, by an expression that compares as the database sorts, and
// roughly, by conditions that have bounds in an index, so that a page reads as much at any depth.
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Filter } from "../filters.ts";
import { markCompiled } from "../filters.ts";
import type { Order } from "./read_rules.ts";
import { typeOf } from "./sort_values.ts";
import type { SortValues } from "./sort_values.ts";

const { Binary, Timestamp } = mongoose.mongo;

/** A path of an order, and the value there of the entity behind which a page begins. */
interface Key {
  readonly path: string;
  readonly isAscending: boolean;
  readonly value: unknown;
}

type Expression = Readonly<Record<string, unknown>>;

/**
 * Gives the condition of entities that stand behind another one in an order, exactly as the database sorts.
 *
 * It has an alternative for each key, so that an index in that order is read from the entity on.
 */
export function seek(order: Order, values: SortValues): Filter {
  const keys = keysOf(order, values);
  const alternatives: Filter[] = [];
  for (const [index, key] of keys.entries()) {
    const tied = keys.slice(0, index);
    const ties = tied.flatMap(levelBounds);
    const isBehind = [...tied.map(isLevel), isBehindIn(key)];
    for (const bounds of behindBounds(key)) {
      alternatives.push(every([...ties, ...bounds], isBehind));
    }
    const rest = keys.slice(index + 1);
    // Alternatives are merged by values, where a missing one is before `null`, and not equal to it as in an index:
    // entities that are tied by `null` would come in a wrong order.
    if (rest.length > 1 && candidatesOf(key).includes(null)) {
      const bounds = [...ties, ...levelBounds(key), ...scanBounds(rest)];
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
  return keys.length === 1 ? seek(order, values) : every(scanBounds(keys), [isBehindAny(keys)]);
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
  return { $or: [isBehindIn(key), { $and: [isLevel(key), isBehindAny(rest)] }] };
}

function isBehindIn(key: Key): Expression {
  return { [key.isAscending ? "$gt" : "$lt"]: [storedPlace(key), givenPlace(key)] };
}

function isLevel(key: Key): Expression {
  return { $eq: [storedPlace(key), givenPlace(key)] };
}

/** The value by which the database sorts an entity: of an array, the first element in the order. */
function storedPlace({ path, isAscending }: Key): unknown {
  // Identifiers are no arrays: by the bare path, the database reads their index from there on.
  return path === "_id" ? "$_id" : placeBelow(`$${path}`.split("."), isAscending);
}

function placeBelow([field = "", ...names]: readonly string[], isAscending: boolean): Expression {
  if (names.length === 0) {
    const orNull = { $cond: [{ $eq: [{ $type: field }, "missing"] }, null, field] };
    return { $cond: [{ $isArray: [field] }, firstOf(field, isAscending), orNull] };
  }
  // Others may have stored a list in the place of an object.
  const isList = { $and: [{ $isArray: [field] }, { $ne: [field, []] }] };
  const [name, ...below] = names;
  const place = placeBelow([`$$each.${name}`, ...below], isAscending);
  const places = {
    input: { $cond: [isList, field, [field]] },
    as: "each",
    in: { place: { $cond: [{ $isArray: ["$$each"] }, null, place] } },
  };
  return placeIn(firstOf({ $map: places }, isAscending));
}

function firstOf(list: unknown, isAscending: boolean): Expression {
  const isBefore = { [isAscending ? "$lt" : "$gt"]: ["$$this", "$$value"] };
  const first = { $cond: [isBefore, "$$this", "$$value"] };
  const reduce = { input: "$$list", initialValue: { $arrayElemAt: ["$$list", 0] }, in: first };
  return { $let: { vars: { list }, in: { $reduce: reduce } } };
}

/** Gives the place in an object, in which `undefined` is missing: a list would have `null` for it. */
function placeIn(input: Expression): Expression {
  return { $let: { vars: { input }, in: "$$input.place" } };
}

function givenPlace({ value, isAscending }: Key): unknown {
  if (!Array.isArray(value)) return value === undefined ? "$$REMOVE" : { $literal: value };
  const places = value.map((each) => each === undefined ? {} : { place: { $literal: each } });
  return places.length === 0 ? "$$REMOVE" : placeIn(firstOf(places, isAscending));
}

/** Types that the database compares with each other, in its order: `$lt` and `$gt` never leave them. */
const BRACKETS: readonly (readonly [type: string, ...ranges: Expression[]])[] = [
  ["null", { $eq: null }],
  ["number", { $gte: -Infinity }, { $eq: NaN }],
  ["string", { $gte: "" }],
  ["object", { $gte: {} }],
  ["binData", { $gte: new Binary(Buffer.alloc(0)) }],
  ["objectId", { $gte: new mongoose.Types.ObjectId("0".repeat(24)) }],
  ["bool", { $gte: false }],
  ["date", { $gte: new Date(0) }, { $lt: new Date(0) }],
  ["timestamp", { $gte: new Timestamp({ t: 0, i: 0 }) }],
];

function bracketOf(value: unknown): number {
  return BRACKETS.findIndex(([type]) => type === typeOf(value));
}

/** The values of which one is the place of the entity; none where a value is of a type without bounds. */
function candidatesOf({ value, isAscending }: Key): readonly unknown[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const brackets = values.map(bracketOf);
  if (brackets.includes(-1)) return [];
  const first = isAscending ? Math.min(...brackets) : Math.max(...brackets);
  return values.filter((_, index) => brackets[index] === first);
}

/** Gives the bounds of the entities behind a place: a list for each value that may be the place. */
function behindBounds(key: Key): Filter[][] {
  const { path, isAscending } = key;
  const candidates = candidatesOf(key);
  if (path === "_id" || candidates.length === 0) return [[]];
  const reached = isAscending ? "$lte" : "$gte";
  return candidates.map((each) => [is(path, { $not: { [reached]: each } }), ...bracketBounds(key)]);
}

function levelBounds(key: Key): Filter[] {
  const { path } = key;
  const candidates = candidatesOf(key);
  // Not all that has nothing at a longer path is equal to `null` there.
  if (candidates.length === 0 || path.includes(".") && candidates.includes(null)) return [];
  return [is(path, candidates.length === 1 ? { $eq: candidates[0] } : { $in: candidates })];
}

/** Gives the bounds of the entities that are not before the place in the first of several keys. */
function scanBounds([key]: readonly Key[]): Filter[] {
  if (key === undefined) return [];
  const [candidate, ...others] = candidatesOf(key);
  const isOnly = candidate !== undefined && others.length === 0;
  const passed = key.isAscending ? "$lt" : "$gt";
  return [
    ...isOnly ? [is(key.path, { $not: { [passed]: candidate } })] : [],
    ...bracketBounds(key),
  ];
}

/** Gives the bounds of the entities that have no value of a type before that of the place. */
function bracketBounds(key: Key): Filter[] {
  const [candidate] = candidatesOf(key);
  const bracket = bracketOf(candidate);
  if (bracket === -1) return [];
  const before = key.isAscending ? BRACKETS.slice(0, bracket) : BRACKETS.slice(bracket + 1);
  return before.flatMap(([, ...ranges]) => ranges.map((each) => is(key.path, { $not: each })));
}

function is(path: string, operators: Expression): Filter {
  return { [path]: markCompiled({ ...operators }) };
}

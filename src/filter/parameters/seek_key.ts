import mongoose from "mongoose";
import type { Filter } from "../filters.ts";
import { markCompiled } from "../q/compiled.ts";
import {
  bracketOf,
  BRACKETS,
  isNaNOfAnyType,
  isNumber,
  isRegExp,
  PLACE_OF_ARRAYS,
  PLACE_OF_EMPTY,
  PLACE_OF_NULL,
  SINGLE_PLACES,
} from "./seek_brackets.ts";
import type { Bracket, Operators } from "./seek_brackets.ts";

const { BSONSymbol } = mongoose.mongo;

export interface Key {
  readonly path: string;
  readonly isAscending: boolean;
}

/** A value as the order sees it, and where its type stands among all types. */
export interface Place {
  readonly bracket: number;
  readonly value?: unknown;
}

/** Gives the place of a value; for an array, the elements one of which is its place: the first in the order. */
export function placesOf(value: unknown, { isAscending }: Key): Place[] {
  if (!Array.isArray(value)) return [placeOf(value)];
  if (value.length === 0) return [{ bracket: PLACE_OF_EMPTY }];
  const places = value.map(placeOf);
  const brackets = places.map(({ bracket }) => bracket);
  const first = isAscending ? Math.min(...brackets) : Math.max(...brackets);
  return places.filter(({ bracket }) => bracket === first);
}

function placeOf(value: unknown): Place {
  // A symbol is equal to its text, and the database fails where an index has to negate a comparison with a symbol.
  const isSymbol = value instanceof BSONSymbol;
  return { bracket: bracketOf(value), value: isSymbol ? value.value : value };
}

/**
 * Gives the conditions of entities behind a place: none of their values is before it or at it. Said in this way, they
 * are right for arrays too, and an index has bounds for them.
 */
export function behind(place: Place, key: Key): Filter[] {
  const own = notReached(place, key);
  // Identifiers are no arrays, and those that are missing are before all others: the types behind give the bounds.
  if (key.path === "_id" && key.isAscending) {
    return [...own, is({ $type: typesFrom(place, key) }, key)];
  }
  return [...own, ...noneInRange(place, key), ...noneWithin(place, key)];
}

/** Gives the conditions of entities at the same place: one of their values is there, and none is before it. */
export function level(places: readonly Place[], key: Key): Filter[] {
  const [place, ...others] = places;
  if (place === undefined) return [];
  const there = others.length === 0
    ? [some([...equals(place).map((each) => is(each, key)), ...missing([place], key)])]
    : places.map((each) => ({ $nor: [every(notReached(each, key))] }));
  return [...there, ...nonePassed(places, key), ...noneWithin(place, key)];
}

/** Gives the conditions of entities that are not before a place. */
export function notBefore(places: readonly Place[], key: Key): Filter[] {
  const [place] = places;
  if (place === undefined) return [];
  return [
    ...nonePassed(places, key),
    ...noneInRange(place, key),
    ...noneWithin(place, key),
  ];
}

/** The first of several places is not passed if one of them is not; which one it is, only the database knows. */
function nonePassed(places: readonly Place[], key: Key): Filter[] {
  const [place, ...others] = places.map((each) => notPassed(each, key));
  if (place === undefined || others.length === 0) return place ?? [];
  const all = [place, ...others];
  return all.some((each) => each.length === 0) ? [] : [some(all.map(every))];
}

function notReached(place: Place, key: Key): Filter[] {
  if (isRegExp(place.value)) return [compareAll(place, { ...key, or: "" })];
  return [...none(reached(place, key), key), ...noneMissing([place], key)];
}

function notPassed(place: Place, key: Key): Filter[] {
  if (isRegExp(place.value)) return [compareAll(place, { ...key, or: "e" })];
  return none(passed(place, key), key);
}

/** Operators for values of the same bracket that are before a place, or at it. */
function reached(place: Place, key: Key): Operators[] {
  const { value } = place;
  if (SINGLE_PLACES.has(place.bracket)) return withinOwn(place);
  if (isNaNOfAnyType(value)) return [...equals(place), ...passed(place, key)];
  return [compare(place, key.isAscending ? "$lte" : "$gte"), ...nanBefore(place, key)];
}

/** Operators for values of the same bracket that are before a place. */
function passed(place: Place, key: Key): Operators[] {
  if (SINGLE_PLACES.has(place.bracket)) return [];
  if (isNaNOfAnyType(place.value)) return key.isAscending ? [] : [{ $gte: -Infinity }];
  return [compare(place, key.isAscending ? "$lt" : "$gt"), ...nanBefore(place, key)];
}

/** The database sorts NaN before all numbers, but `$lt` finds it before none. */
function nanBefore({ value }: Place, { isAscending }: Key): Operators[] {
  return isAscending && isNumber(value) ? [{ $eq: NaN }] : [];
}

function equals(place: Place): Operators[] {
  return place.bracket === PLACE_OF_EMPTY ? withinOwn(place) : [compare(place, "$eq")];
}

function compare({ bracket, value = null }: Place, operator: string): Operators {
  const compared = { [operator]: value };
  return bracket === PLACE_OF_ARRAYS ? { $elemMatch: compared } : compared;
}

/** Compares with a regular expression, which only `$eq` takes as a value; no index is of use for it. */
function compareAll(
  { value }: Place,
  { path, isAscending, or }: Key & { readonly or: "" | "e" },
): Filter {
  const field = `$${path}`;
  const input = { $cond: [{ $isArray: [field] }, field, [field]] };
  const compared = { [`${isAscending ? "$gt" : "$lt"}${or}`]: ["$$this", { $literal: value }] };
  return { $expr: markCompiled({ $allElementsTrue: [{ $map: { input, in: compared } }] }) };
}

function bracketsBefore({ bracket }: Place, { isAscending }: Key): readonly Bracket[] {
  return isAscending ? BRACKETS.slice(0, bracket) : BRACKETS.slice(bracket + 1);
}

function noneWithin(place: Place, key: Key): Filter[] {
  const before = bracketsBefore(place, key);
  const places = before.map((each) => ({ bracket: BRACKETS.indexOf(each) }));
  return [...none(within(before), key), ...noneMissing(places, key)];
}

function noneMissing(places: readonly Place[], key: Key): Filter[] {
  const conditions = missing(places, key);
  return conditions.length === 0 ? [] : [{ $nor: conditions }];
}

/** What has nothing at a path, and is not equal to `null` there: a list of anything but objects in the place of one. */
function missing(places: readonly Place[], { path }: Key): Filter[] {
  if (!places.some(({ bracket }) => bracket === PLACE_OF_NULL)) return [];
  const names = path.split(".").slice(0, -1);
  return names.flatMap((_, index) => {
    const above = names.slice(0, index + 1).join(".");
    return [{ $size: 0 }, { $elemMatch: { $not: { $type: ["object"] } } }]
      .map((each) => is(each, { path: above, isAscending: true }));
  });
}

function noneInRange(place: Place, key: Key): Filter[] {
  return none(bracketsBefore(place, key).flatMap(({ ranges = [] }) => ranges), key);
}

function typesFrom(place: Place, key: Key): string[] {
  const before = new Set(bracketsBefore(place, key));
  return BRACKETS.filter((each) => !before.has(each)).flatMap(({ types }) => types);
}

function withinOwn({ bracket }: Place): Operators[] {
  return within(BRACKETS.slice(bracket, bracket + 1));
}

function within(brackets: readonly Bracket[]): Operators[] {
  const types = brackets.flatMap((each) => each.types);
  const besides = brackets.flatMap((each) => each.besides ?? []);
  return types.length === 0 ? besides : [{ $type: types }, ...besides];
}

function none(operators: readonly Operators[], key: Key): Filter[] {
  return operators.map((each) => is({ $not: each }, key));
}

function is(operators: Operators, { path }: Key): Filter {
  return { [path]: markCompiled({ ...operators }) };
}

export function some(conditions: readonly Filter[]): Filter {
  const [only, ...others] = conditions;
  return only !== undefined && others.length === 0 ? only : { $or: conditions };
}

export function every(conditions: readonly Filter[]): Filter {
  const [only, ...others] = conditions;
  return only !== undefined && others.length === 0 ? only : { $and: conditions };
}

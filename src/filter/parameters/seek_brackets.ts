import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { isFarDate } from "./seek_values.ts";

const { Binary, Timestamp } = mongoose.mongo;

/** Operators on one path. They match an array if one of its elements matches, as the order of arrays needs it. */
export type Operators = Readonly<Record<string, unknown>>;

/** Types that the database compares with each other: `$lt` and `$gt` never leave them. */
export interface Bracket {
  readonly types: readonly string[];
  readonly besides?: readonly Operators[];
  /** Operators for the same values that have bounds in an index when they are negated; `$type` has none. */
  readonly ranges?: readonly Operators[];
}

/** All types in the order in which the database sorts them. */
export const BRACKETS: readonly Bracket[] = [
  { types: ["minKey"] },
  // An empty array has no element that could be its place; it stands where undefined does.
  { types: ["undefined"], besides: [{ $size: 0 }] },
  // A missing value has no type.
  { types: ["null"], besides: [{ $eq: null }] },
  { types: ["number"], ranges: [{ $gte: -Infinity }, { $eq: NaN }] },
  { types: ["string", "symbol"], ranges: [{ $gte: "" }] },
  { types: ["object"], ranges: [{ $gte: {} }] },
  // The elements of an array are its places, so only an array inside another one has this place.
  { types: [], besides: [{ $elemMatch: { $type: ["array"] } }] },
  { types: ["binData"], ranges: [{ $gte: new Binary(Buffer.alloc(0)) }] },
  { types: ["objectId"], ranges: [{ $gte: new mongoose.Types.ObjectId("0".repeat(24)) }] },
  { types: ["bool"], ranges: [{ $gte: false }] },
  { types: ["date"], ranges: [{ $gte: new Date(0) }, { $lt: new Date(0) }] },
  { types: ["timestamp"], ranges: [{ $gte: new Timestamp({ t: 0, i: 0 }) }] },
  { types: ["regex"] },
  { types: ["dbPointer"] },
  { types: ["javascript"] },
  { types: ["javascriptWithScope"] },
  { types: ["maxKey"] },
];

const PLACE_OF_NUMBERS = placeOf("number");

export const PLACE_OF_NULL: number = placeOf("null");

/** Where an array stands that has no element. */
export const PLACE_OF_EMPTY: number = placeOf("undefined");

/** Where an array stands that is an element of another one. */
export const PLACE_OF_ARRAYS: number = BRACKETS.findIndex(({ types }) => types.length === 0);

/** Brackets with one place: all values are equal. `$gt: MinKey` would leave its bracket, as `$lt: MaxKey` would. */
export const SINGLE_PLACES: ReadonlySet<number> = new Set([
  placeOf("minKey"),
  PLACE_OF_EMPTY,
  PLACE_OF_NULL,
  placeOf("maxKey"),
]);

/** Brackets of values that have no parts and no syntax. */
const SCALAR_PLACES: ReadonlySet<number> = new Set(
  ["null", "number", "string", "binData", "objectId", "bool", "date"].map(placeOf),
);

const JS_TYPES: Readonly<Record<string, string>> = {
  undefined: "undefined",
  number: "number",
  bigint: "number",
  string: "string",
  boolean: "bool",
};

const BSON_TYPES: Readonly<Record<string, string>> = {
  MinKey: "minKey",
  Int32: "number",
  Long: "number",
  Double: "number",
  Decimal128: "number",
  BSONSymbol: "symbol",
  Binary: "binData",
  ObjectId: "objectId",
  Timestamp: "timestamp",
  BSONRegExp: "regex",
  MaxKey: "maxKey",
};

/** Gives the place of a value's type in {@linkcode BRACKETS}. */
export function bracketOf(value: unknown): number {
  return Array.isArray(value) ? PLACE_OF_ARRAYS : placeOf(typeOf(value));
}

export function isNaNOfAnyType(value: unknown): boolean {
  return bracketOf(value) === PLACE_OF_NUMBERS && Number.isNaN(Number(String(value)));
}

/** Whether a value is of one of the types that fields are declared with, and as exact here as it is stored. */
export function isScalar(value: unknown): boolean {
  return SCALAR_PLACES.has(bracketOf(value)) && typeOf(value) !== "symbol" && !isFarDate(value);
}

export function isNumber(value: unknown): boolean {
  return bracketOf(value) === PLACE_OF_NUMBERS;
}

export function isRegExp(value: unknown): boolean {
  return typeOf(value) === "regex";
}

function placeOf(type: string): number {
  return BRACKETS.findIndex(({ types }) => types.includes(type));
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return JS_TYPES[typeof value] ?? "object";
  if (value instanceof Date) return "date";
  if (value instanceof RegExp) return "regex";
  if (value instanceof Uint8Array) return "binData";
  const { _bsontype, scope } = value as { _bsontype?: string; scope?: unknown };
  if (_bsontype === "Code") return scope ? "javascriptWithScope" : "javascript";
  return BSON_TYPES[_bsontype ?? ""] ?? "object";
}

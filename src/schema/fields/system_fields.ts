import mongoose from "mongoose";
import type { Types } from "mongoose";

/** The types of `_id` that a path can name, so that a class with such an `_id` can have routes. */
export const IDENTIFIER_TYPES: readonly string[] = ["ObjectId", "String", "Number", "UUID"];

export const IDENTIFIER = /^[0-9a-f]{24}$/i;

/**
 * Returns the filter for the document with an ObjectId in text form. Returns `undefined` for any other text, because
 * Mongoose would throw an error for it.
 */
export function byIdentifier(text: string): { readonly _id: Types.ObjectId } | undefined {
  return IDENTIFIER.test(text) ? { _id: new mongoose.Types.ObjectId(text) } : undefined;
}

export type Version = number | null;

/**
 * The number of bits of a version. A stored number that needs more bits does not count as a version, so `asVersion()`
 * returns `null` for it.
 */
const VERSION_BITS = 49;

/**
 * Reads a stored version. Other programs may have stored any value, so a value that is not a whole number from 0 on is
 * read as `null`, as for an entity without a version.
 */
export function asVersion(value: unknown): Version {
  const number = numberOf(value);
  const isVersion = Number.isInteger(number) && number >= 0 && number < 2 ** VERSION_BITS;
  return isVersion ? number : null;
}

const NUMBERS: ReadonlySet<unknown> = new Set(["Double", "Int32", "Long"]);

/**
 * Returns a stored number as a JavaScript number, and NaN for any other value. The options of a connection decide
 * whether the driver returns numbers, number objects or BigInt values, so all of them are read.
 */
function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  const { _bsontype: type } = (value ?? {}) as { _bsontype?: unknown };
  return NUMBERS.has(type) || typeof value === "bigint" ? Number(value) : NaN;
}

export function versionKeyOf(
  { schema }: { readonly schema: { get(option: "versionKey"): unknown } },
): string | undefined {
  const key: unknown = schema.get("versionKey");
  return typeof key === "string" ? key : undefined;
}

import mongoose from "mongoose";
import type { Types } from "mongoose";

/** The types of an `_id` that a URL path can name. */
export const IDENTIFIER_TYPES: readonly string[] = ["ObjectId", "String", "Number", "UUID"];

export const IDENTIFIER = /^[0-9a-f]{24}$/i;

/** Mongoose would throw for a string that is no ObjectId. */
export function byIdentifier(text: string): { readonly _id: Types.ObjectId } | undefined {
  return IDENTIFIER.test(text) ? { _id: new mongoose.Types.ObjectId(text) } : undefined;
}

export type Version = number | null;

const VERSION_BITS = 49;

/** Other programs may have stored any value. All but whole numbers count as `null`. */
export function asVersion(value: unknown): Version {
  const number = numberOf(value);
  const isVersion = Number.isInteger(number) && number >= 0 && number < 2 ** VERSION_BITS;
  return isVersion ? number : null;
}

const NUMBERS: ReadonlySet<unknown> = new Set(["Double", "Int32", "Long"]);

/** The driver returns numbers, number objects or BigInt values, by the connection's options. */
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

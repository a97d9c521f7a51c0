import mongoose from "mongoose";
import type { Types } from "mongoose";

export const IDENTIFIER = /^[0-9a-f]{24}$/i;

/** Selects the document with an identifier; `undefined` for any other text. */
export function byIdentifier(text: string): { readonly _id: Types.ObjectId } | undefined {
  return IDENTIFIER.test(text) ? { _id: new mongoose.Types.ObjectId(text) } : undefined;
}

export type Version = number | null;

/** Versions are below 2 to this power. */
const VERSION_BITS = 49;

/** Reads a stored version. Others have written what is no whole number from 0 on: it counts as none. */
export function asVersion(value: unknown): Version {
  const number = numberOf(value);
  const isVersion = Number.isInteger(number) && number >= 0 && number < 2 ** VERSION_BITS;
  return isVersion ? number : null;
}

const NUMBERS: ReadonlySet<unknown> = new Set(["Double", "Int32", "Long"]);

/** Connections may be told to keep numbers in objects, or to read some as BigInt. */
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

import { Buffer } from "node:buffer";
import { Binary, Types } from "../../schema/mongoose/bson.ts";
import { badFormat } from "../../errors/refusals.ts";
import { IDENTIFIER } from "../../schema/fields/system_fields.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";

/**
 * The forms of relaxed extended JSON that are read, by their key. bson's `EJSON` reads malformed ones as another value: an
 * int64 that is too large wraps around, a text becomes `NaN`, a date invalid, bytes empty.
 */
const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  $oid: (value) => new Types.ObjectId(text(value, IDENTIFIER)),
  $date: (value) => readDate(value),
  $numberInt: (value) => Number(text(value, /^-?\d+$/)),
  $numberLong: (value) => readInt64(value),
  $numberDouble: (value) => Number(text(value, /^(-?(\d+(\.\d*)?(e[+-]?\d+)?|Infinity)|NaN)$/i)),
  $numberDecimal: (value) => Types.Decimal128.fromString(text(value, /^[-+.0-9a-z]+$/i)),
  $uuid: (value) => new Types.UUID(text(value, /^[0-9a-f-]{32,36}$/i)),
  $binary: (value) => readBinary(value),
};

export function isExtendedJson(value: JsonObject): boolean {
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 && Object.hasOwn(READERS, key);
}

export function readExtendedJson(value: JsonObject, path: string): unknown {
  const [[key, inner]] = Object.entries(value) as [[string, unknown]];
  try {
    return READERS[key]?.(inner);
  } catch {
    throw badFormat(`Malformed "${key}" at "${path}"`, { field: path });
  }
}

function text(value: unknown, form: RegExp): string {
  if (typeof value !== "string" || !form.test(value)) throw new TypeError("Malformed");
  return value;
}

function readInt64(value: unknown): bigint {
  const int = BigInt(text(value, /^-?\d{1,19}$/));
  if (BigInt.asIntN(64, int) !== int) throw new RangeError("Too large");
  return int;
}

function readDate(value: unknown): Date {
  const inner = isJsonObject(value) && isExtendedJson(value)
    ? Number(readExtendedJson(value, "$date"))
    : value;
  const date = typeof inner === "string" || typeof inner === "number" ? new Date(inner) : undefined;
  if (date === undefined || Number.isNaN(date.getTime())) throw new TypeError("Malformed");
  return date;
}

function readBinary(value: unknown): unknown {
  const { base64, subType = "00" } = isJsonObject(value) ? value : {};
  const bytes = Buffer.from(text(base64, /^[0-9a-z+/]*={0,2}$/i), "base64");
  return new Binary(bytes, Number.parseInt(text(subType, /^[0-9a-f]{1,2}$/i), 16));
}

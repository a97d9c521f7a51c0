import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Document } from "mongoose";

export const { Types } = mongoose;

export const { Binary, BSON, Double } = mongoose.mongo;

export function isDocument(entity: unknown): entity is Document {
  return entity instanceof mongoose.Document;
}

/** `instanceof` would recognise only one copy of the driver. */
export function isObjectId(value: unknown): value is mongoose.Types.ObjectId {
  return Object(value)._bsontype === "ObjectId";
}

/** Refuses invalid characters, which `Buffer.from()` would skip. */
export function readBase64(text: unknown): Buffer | undefined {
  if (typeof text !== "string" || !/^[0-9a-z+/]*={0,2}$/i.test(text)) return undefined;
  return text.replace(/=+$/, "").length % 4 === 1 ? undefined : Buffer.from(text, "base64");
}

const INT64 = 2n ** 63n;

/** BSON drops these flags of regular expressions, although they change the matches. */
const LOST_FLAGS = /[svy]/;

/** The name of a value that Mongoose or BSON would drop or change. */
export function lossOf(value: unknown): string | undefined {
  switch (typeof value) {
    case "undefined":
      return "undefined";
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "number":
      return Number.isNaN(value) ? "NaN" : undefined;
    case "bigint":
      return value >= INT64 || value < -INT64 ? "a bigint of more than 64 bits" : undefined;
    case "object":
      return value === null ? undefined : lossOfObject(value);
    default:
      return undefined;
  }
}

function lossOfObject(value: object): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "an invalid date" : undefined;
  if (value instanceof RegExp) {
    return LOST_FLAGS.test(value.flags)
      ? `a regular expression with the flags "${value.flags}"`
      : undefined;
  }
  const { then } = value as { then?: unknown };
  return typeof then === "function" ? "a promise, or a query, that was not awaited" : undefined;
}

/** BSON would store an instance of any other class as a plain object. */
export function isStorable(value: object): boolean {
  const { _bsontype: type } = value as { _bsontype?: unknown };
  return typeof type === "string" || value instanceof Date || value instanceof RegExp ||
    value instanceof Uint8Array || isDocument(value) || value instanceof mongoose.Types.Map;
}

/** Mongoose can cast an instance with its own `toString()`, `valueOf()` or `toBSON()`, so a filter may contain it. */
export function isConvertible(value: object): boolean {
  if (ArrayBuffer.isView(value)) return false;
  const { toString, valueOf, toBSON } = value as Record<string, unknown>;
  return toString !== Object.prototype.toString || valueOf !== Object.prototype.valueOf ||
    typeof toBSON === "function";
}

export function storedMembers(value: unknown): Map<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  if (value instanceof mongoose.Types.Map) return new Map(value as Map<string, unknown>);
  if (isDocument(value)) return new Map(Object.entries(value.toBSON()));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  return new Map(Object.entries(value));
}

const [TRUSTED] = Object.getOwnPropertySymbols(mongoose.trusted({ $eq: 1 }));

/** BSON drops symbols and keys that are not enumerable. The symbol of `mongoose.trusted()` is kept. */
export function isSerializedKey(object: object, key: string | symbol): boolean {
  return typeof key === "symbol"
    ? key === TRUSTED
    : Object.prototype.propertyIsEnumerable.call(object, key);
}

export function isTrusted(operators: object): boolean {
  return TRUSTED !== undefined && TRUSTED in operators;
}

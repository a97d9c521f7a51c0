import { Buffer } from "node:buffer";
import mongoose from "mongoose";

/** Gives the bytes of a document that the driver has decoded; `undefined` where they would not be those that are stored. */
export function encodeValues(values: object): Buffer | undefined {
  if (!isLossless(values)) return undefined;
  const bytes = mongoose.mongo.BSON.serialize(values, { ignoreUndefined: false });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether a value was decoded without a loss: JavaScript has no date beyond its range, and other expressions. */
function isLossless(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (value instanceof RegExp) return false;
  if ("_bsontype" in value) return true;
  return Object.values(value).every(isLossless);
}

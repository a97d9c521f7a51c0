import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Document } from "mongoose";

/** Mongoose's value classes, for those who read and write values without touching models. */
export const { Types } = mongoose;

/** Bytes with a subtype, and what a number is stored as where the field says so. */
export const { Binary, Double } = mongoose.mongo;

/** Tells whether an entity is a document of Mongoose, not a plain object. */
export function isDocument(entity: unknown): entity is Document {
  return entity instanceof mongoose.Document;
}

/** Tells whether a value is an `ObjectId`, of any copy of the driver. */
export function isObjectId(value: unknown): value is mongoose.Types.ObjectId {
  return Object(value)._bsontype === "ObjectId";
}

/** Reads bytes in base64, padded or not; `undefined` for what is none, where the runtime would read what it can. */
export function readBase64(text: unknown): Buffer | undefined {
  if (typeof text !== "string" || !/^[0-9a-z+/]*={0,2}$/i.test(text)) return undefined;
  return text.replace(/=+$/, "").length % 4 === 1 ? undefined : Buffer.from(text, "base64");
}

import { Buffer } from "node:buffer";
import mongoose from "mongoose";

const { BSON } = mongoose.mongo;

/** Gives a text that is the same for stored values that are equal, and differs for all others. */
export function storedText(value: unknown): string {
  // Reading it back drops what no comparison sees, such as the width of a number.
  const read = BSON.deserialize(BSON.serialize({ value }), { validation: { utf8: false } });
  return Buffer.from(BSON.serialize(read)).toString("base64");
}

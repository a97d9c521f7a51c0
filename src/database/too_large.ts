import mongoose from "mongoose";

/** The server's error codes for a document that would be larger than the database can store. */
const TOO_LARGE = new Set<unknown>([10334, 17419, 17420]);

/**
 * Whether an error means that a document is larger than the database can store. The driver encodes a document before it
 * sends the document, and passes on the error of the runtime if its buffer is too small.
 */
export function isTooLarge(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (error instanceof RangeError) return code === "ERR_OUT_OF_RANGE";
  return error instanceof mongoose.mongo.MongoServerError &&
    (TOO_LARGE.has(code) || code === 2 && error.message.includes("too large"));
}

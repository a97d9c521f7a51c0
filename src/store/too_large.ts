import mongoose from "mongoose";

/** The largest document of MongoDB. The buffer of the driver is somewhat larger. */
const MAX_BYTES = 16 * 1024 * 1024;

const TOO_LARGE = new Set<unknown>([10334, 17419, 17420]);

/**
 * The driver encodes a document before it sends the document, and passes on the error of the runtime if its buffer is
 * too small.
 */
export function isTooLarge(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (error instanceof RangeError) {
    return code === "ERR_OUT_OF_RANGE" && boundIn(error) >= MAX_BYTES;
  }
  return error instanceof mongoose.mongo.MongoServerError &&
    (TOO_LARGE.has(code) || code === 2 && error.message.includes("too large"));
}

/** An index smaller than the driver's buffer means that the `RangeError` comes from a function of the application. */
function boundIn({ message }: RangeError): number {
  return Number(/<= (\d+)/.exec(message)?.[1] ?? 0);
}

import mongoose from "mongoose";

/** The largest document of MongoDB. The driver's buffer is somewhat larger. */
const MAX_BYTES = 16 * 1024 * 1024;

const LARGE_DOCUMENT_CODES = new Set<unknown>([10334, 17419, 17420]);

/** The driver encodes documents before it sends them, and passes on the `RangeError` of its buffer. */
export function isTooLarge(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  if (error instanceof RangeError) {
    return code === "ERR_OUT_OF_RANGE" && boundIn(error) >= MAX_BYTES;
  }
  return error instanceof mongoose.mongo.MongoServerError &&
    (LARGE_DOCUMENT_CODES.has(code) || code === 2 && error.message.includes("too large"));
}

/** If the bound is below 16 MB, the `RangeError` comes from the application. */
function boundIn({ message }: RangeError): number {
  return Number(/<= (\d+)/.exec(message)?.[1] ?? 0);
}

import mongoose from "mongoose";
import type { mongo } from "mongoose";

/**
 * The driver has already repeated an overloaded statement, so a repetition would add to the load. A connection that
 * failed to open has the same label, but is no answer of a server.
 */
export function isOverload(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongoose.mongo.MongoServerError &&
    error.hasErrorLabel("SystemOverloadedError");
}

export function pauseOfOverload(error: unknown): number {
  const pauseMS = isOverload(error) ? Number(error.errorResponse.baseBackoffMS) : 0;
  return pauseMS > 0 && Number.isFinite(pauseMS) ? pauseMS : 0;
}

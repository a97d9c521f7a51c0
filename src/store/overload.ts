import mongoose from "mongoose";
import type { mongo } from "mongoose";

/**
 * The driver has already repeated the statement after pauses, so a repetition here would add to the load. The driver
 * gives the same label to an error of a connection that could not be opened, which is no answer of a server.
 */
export function isOverload(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongoose.mongo.MongoServerError &&
    error.hasErrorLabel("SystemOverloadedError");
}

/** The pause that an overloaded server asks of its clients, in milliseconds. 0 means none. */
export function pauseOfOverload(error: unknown): number {
  const pauseMS = isOverload(error) ? Number(error.errorResponse.baseBackoffMS) : 0;
  return pauseMS > 0 && Number.isFinite(pauseMS) ? pauseMS : 0;
}

import mongoose from "mongoose";
import type { mongo } from "mongoose";

/**
 * Whether the server refused a statement because it is overloaded. The driver has already repeated the statement after
 * pauses, if the server allows it. A further repetition would add to the load, so the client must wait. An error of a
 * connection that could not be opened is no answer of a server, although the driver gives it the same label.
 */
export function isOverload(error: unknown): error is mongo.MongoServerError {
  return error instanceof mongoose.mongo.MongoServerError &&
    error.hasErrorLabel("SystemOverloadedError");
}

/** Returns the pause that an overloaded server asks of its clients, in milliseconds. Returns 0 if it asks for none. */
export function pauseOfOverload(error: unknown): number {
  const pauseMS = isOverload(error) ? Number(error.errorResponse.baseBackoffMS) : 0;
  return pauseMS > 0 && Number.isFinite(pauseMS) ? pauseMS : 0;
}

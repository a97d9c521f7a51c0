import mongoose from "mongoose";
import type { Connection, Mongoose } from "mongoose";

/**
 * Makes a connection that never opens, for models that cast and validate and store nothing. Mongoose does not list it
 * among its connections, so nothing that goes through them meets these models.
 */
export function makeDetachedConnection(base: Mongoose = mongoose): Connection {
  const Connection = mongoose.Connection as unknown as new (base: unknown) => Connection;
  try {
    return new Connection(base);
  } catch {
    // Another version may make connections in another way; this one is listed.
    return base.createConnection();
  }
}

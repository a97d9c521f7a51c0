import mongoose from "mongoose";
import type { Connection, Mongoose } from "mongoose";

/** Makes a connection that never opens, and that Mongoose does not list: for models that cast and validate only. */
export function makeDetachedConnection(base: Mongoose = mongoose): Connection {
  const Connection = mongoose.Connection as unknown as new (base: unknown) => Connection;
  try {
    return new Connection(base);
  } catch {
    // Another version may make connections in another way; this one is listed.
    return base.createConnection();
  }
}

import mongoose from "mongoose";
import type { Connection } from "mongoose";

let detached: Connection | undefined;

/**
 * Gives a connection that never opens, for models that cast and validate and store nothing. Mongoose does not list it
 * among its connections, so nothing that goes through them meets these models.
 */
export function detachedConnection(): Connection {
  return detached ??= makeConnection();
}

function makeConnection(): Connection {
  const Connection = mongoose.Connection as unknown as new (base: unknown) => Connection;
  try {
    return new Connection(mongoose);
  } catch {
    // Another version may make connections in another way; this one is listed.
    return mongoose.createConnection();
  }
}

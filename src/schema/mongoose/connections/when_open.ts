import mongoose from "mongoose";
import type { Connection } from "mongoose";

export function isOpen({ readyState }: Connection): boolean {
  return readyState === mongoose.ConnectionStates.connected;
}

const waiting = new WeakMap<Connection, Set<() => void>>();

/**
 * Calls back once when a connection opens. One listener serves all who wait for the same connection, however many.
 *
 * @returns Takes the wait back.
 */
export function whenOpen(connection: Connection, callback: () => void): () => void {
  let callbacks = waiting.get(connection);
  if (callbacks === undefined) waiting.set(connection, callbacks = listen(connection));
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

/** Attaches the listener; it goes with the first opening. */
function listen(connection: Connection): Set<() => void> {
  const callbacks = new Set<() => void>();
  connection.once("connected", () => {
    waiting.delete(connection);
    for (const callback of callbacks) callback();
  });
  return callbacks;
}

import type { Request } from "express-types";

/** The functions that end live lists, imports and uploads of files, by the HTTP server of their requests. */
const callbacks = new WeakMap<object, Set<() => void>>();

/**
 * Calls a function when the HTTP server of a request begins to close, so that a long request can end.
 * Returns a function that cancels the call.
 */
export function onServerClose({ socket }: Request, callback: () => void): () => void {
  // Node and Deno store the HTTP server of a connection as `socket.server`, a property that their types do not declare.
  // Other runtimes have no such property, so the connection is used in place of the server.
  const { server = socket } = socket as { readonly server?: object };
  const all = callbacks.get(server) ?? new Set();
  callbacks.set(server, all.add(callback));
  return () => all.delete(callback);
}

/** Ends the live lists, imports and uploads of a closing server, which would otherwise keep the server open. */
export function endLongRequests(server: object): void {
  for (const callback of [...callbacks.get(server) ?? []]) callback();
}

import type { Request } from "express-types";

const callbacks = new WeakMap<object, Set<() => void>>();

export function onServerClose({ socket }: Request, callback: () => void): () => void {
  // Only Node and Deno have `socket.server`.
  const { server = socket } = socket as { readonly server?: object };
  const all = callbacks.get(server) ?? new Set();
  callbacks.set(server, all.add(callback));
  return () => all.delete(callback);
}

/** Live lists, imports and uploads would otherwise keep the server open. */
export function endLongRequests(server: object): void {
  for (const callback of [...callbacks.get(server) ?? []]) callback();
}

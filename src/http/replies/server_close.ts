import type { Request } from "express-types";

/** The callbacks of long answers, by server. */
const callbacks = new WeakMap<object, Set<() => void>>();

/** Calls back when the server of a request begins to close. The result removes the callback. */
export function onServerClose({ socket }: Request, callback: () => void): () => void {
  // Node and Deno keep the server of a connection under a name of their own.
  const { server = socket } = socket as { readonly server?: object };
  const all = callbacks.get(server) ?? new Set();
  callbacks.set(server, all.add(callback));
  return () => all.delete(callback);
}

/** Ends the long answers of a server that closes. */
export function endLongAnswers(server: object): void {
  for (const callback of [...callbacks.get(server) ?? []]) callback();
}

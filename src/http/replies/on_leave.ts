import type { Socket } from "node:net";

/** The callbacks of each connection: one listener of the socket serves all of its requests. */
const callbacksOf = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when a connection closes. A response that waits behind another one emits no event then.
 *
 * @returns Takes the callback off.
 */
export function onLeave(socket: Socket, leave: () => void): () => void {
  let callbacks = callbacksOf.get(socket);
  if (callbacks === undefined) {
    const all = callbacks = new Set<() => void>();
    callbacksOf.set(socket, all);
    socket.once("close", () => {
      for (const each of [...all]) each();
    });
  }
  callbacks.add(leave);
  return () => callbacks.delete(leave);
}

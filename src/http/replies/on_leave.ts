import type { Socket } from "node:net";

/** What waits for the end of a connection: one listener of the socket serves all of its requests. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back when a connection closes. A response that waits behind another one hears nothing of it.
 *
 * @returns What takes the callback off.
 */
export function onLeave(socket: Socket, leave: () => void): () => void {
  let callbacks = waiting.get(socket);
  if (callbacks === undefined) {
    const all = callbacks = new Set<() => void>();
    waiting.set(socket, all);
    socket.once("close", () => {
      for (const each of [...all]) each();
    });
  }
  callbacks.add(leave);
  return () => callbacks.delete(leave);
}

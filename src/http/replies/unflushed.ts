import type { Response } from "express-types";
import { onLeave } from "./on_leave.ts";

/** Responses that have ended and whose clients are still reading, by server. */
const unflushed = new WeakMap<object, Set<Response>>();

/** Notes a response until its client has read it, or has left. */
export function noteUnflushed(res: Response): void {
  const { socket } = res.req;
  // Node and Deno keep the server of a connection under a name of their own.
  const { server } = socket as { readonly server?: object };
  if (server === undefined || !res.writableEnded || res.writableLength === 0) return;
  const all = unflushed.get(server) ?? new Set();
  unflushed.set(server, all.add(res));
  const stay = onLeave(socket, done);
  res.once("close", done);
  function done(): void {
    stay();
    all.delete(res);
  }
}

/** Whether a client of a server is still reading a response that has ended: Node counts its connection as idle. */
export function hasUnflushed(server: object): boolean {
  return (unflushed.get(server)?.size ?? 0) > 0;
}

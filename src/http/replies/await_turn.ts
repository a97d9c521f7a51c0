import type { Response } from "express-types";
import type { Socket } from "node:net";
import { onLeave } from "./on_leave.ts";

/** A connection; Node and Deno keep the response that it is sending under a name of their own. */
interface SendingSocket {
  readonly "_httpMessage"?: unknown;
}

/** Whether a response waits behind another one of its connection. */
export function isQueued(res: Response): boolean {
  if (res.socket || res.writableFinished || typeof res.assignSocket !== "function") return false;
  const { _httpMessage: sending } = (res.req.socket ?? {}) as SendingSocket;
  // Without such a response the wait would never end.
  return typeof sending === "object" && sending !== null && sending !== res;
}

/**
 * Waits until a connection sends this response: the answers to pipelined requests go out one after the other.
 *
 * @returns `false` if the connection closed before.
 */
export function awaitTurn(res: Response): Promise<boolean> {
  const { socket } = res.req;
  if (socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stay = onLeave(socket, () => resolve(false));
    const assign = res.assignSocket;
    // No event tells that a response gets its socket.
    res.assignSocket = (own: Socket) => {
      res.assignSocket = assign;
      stay();
      assign.call(res, own);
      resolve(true);
    };
  });
}

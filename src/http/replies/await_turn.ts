import type { Socket } from "node:net";
import type { Response } from "express-types";
import { onLeave } from "./on_leave.ts";

/** The response that a connection sends at the moment; Node and Deno keep it under a name of their own. */
interface SendingSocket {
  readonly "_httpMessage"?: unknown;
}

/** Whether a response waits behind another one of its connection. */
export function isQueued(res: Response): boolean {
  if (res.socket || res.writableFinished || typeof res.assignSocket !== "function") return false;
  const { _httpMessage: sending } = (res.req.socket ?? {}) as SendingSocket;
  // Where nothing is known of the connection, nobody would end the wait.
  return typeof sending === "object" && sending !== null && sending !== res;
}

/**
 * Waits until a connection sends this response: clients may send many requests at once, and answers go out one after the
 * other.
 *
 * @returns Whether its turn has come; `false` if the connection closed before.
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

import type { Response } from "express-types";
import type { Socket } from "node:net";
import { awaitTurn, isQueued } from "./await_turn.ts";

/** Breaks off an answer that has begun, by a reset: over HTTP/1.0 a mere end would make it look complete. */
export async function cutAnswer(res: Response): Promise<void> {
  // The connection still belongs to the answers before this one.
  if (isQueued(res) && !await awaitTurn(res)) return;
  reset(res);
  res.destroy();
}

/** A socket of TLS; Node and Deno keep the socket below it under a name of their own. */
interface TlsSocket {
  readonly "_parent"?: Socket;
}

/** Resets a connection. TLS would end it in order, so that the socket below is reset. */
function reset({ socket }: Response): void {
  if (!socket) return;
  const { _parent: below } = socket as TlsSocket;
  try {
    (below ?? socket).resetAndDestroy();
  } catch {
    // The response is destroyed in any case.
  }
}

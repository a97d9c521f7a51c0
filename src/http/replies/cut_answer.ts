import type { Socket } from "node:net";
import type { Response } from "express-types";
import { awaitTurn, isQueued } from "./await_turn.ts";

/**
 * Breaks off an answer that has begun. The connection is reset: over HTTP/1.0 a mere end would make what was sent look
 * complete.
 */
export async function cutAnswer(res: Response): Promise<void> {
  // The connection still belongs to the answers before this one.
  if (isQueued(res) && !await awaitTurn(res)) return;
  reset(res);
  res.destroy();
}

/** A socket of TLS, which keeps the one that it goes over under a name of Node's and Deno's own. */
interface TlsSocket {
  readonly "_parent"?: Socket;
}

/** Resets a connection, that below TLS too: TLS itself would say goodbye in order. */
function reset({ socket }: Response): void {
  if (!socket) return;
  const { _parent: below } = socket as TlsSocket;
  try {
    (below ?? socket).resetAndDestroy();
  } catch {
    // What cannot be reset is still destroyed.
  }
}

import type { Response } from "express-types";
import { awaitTurn, isQueued } from "./await_turn.ts";

/**
 * Breaks off an answer that has begun. The connection is reset: over HTTP/1.0 a mere end would make what was sent look
 * complete.
 */
export async function cutAnswer(res: Response): Promise<void> {
  // The connection still belongs to the answers before this one.
  if (isQueued(res) && !await awaitTurn(res)) return;
  try {
    res.socket?.resetAndDestroy();
  } catch {
    // Only plain TCP can be reset; TLS tells a cut from an end.
  }
  res.destroy();
}

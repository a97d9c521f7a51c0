import type { Response } from "express-types";
import { onLeave } from "./on_leave.ts";

/** Responses that have ended, and that their clients have not taken yet. */
const unflushed = new Set<Response>();

/** Notes a response until its client has taken it, or has left. */
export function noteUnflushed(res: Response): void {
  if (!res.writableEnded || res.writableLength === 0 || unflushed.has(res)) return;
  unflushed.add(res);
  const stay = onLeave(res.req.socket, done);
  res.once("close", done);
  function done(): void {
    stay();
    unflushed.delete(res);
  }
}

/** Whether any client is still taking a response that has ended. */
export function hasUnflushed(): boolean {
  return unflushed.size > 0;
}

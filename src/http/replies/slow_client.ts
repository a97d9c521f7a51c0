import { clearTimeout, setTimeout } from "node:timers";
import type { Request } from "express-types";

/** A client that has not taken a piece of its answer in time; the answer was cut. */
export class SlowClientError extends Error {
  override name = "SlowClientError";
  readonly code = "SEND_TIMEOUT";

  constructor({ method, originalUrl }: Request, ms: number) {
    const [path] = originalUrl.split("?");
    super(`Cannot send the answer to ${method} ${path}: its client is too slow for ${ms} ms`);
  }
}

/** Calls back when a client has had its time. The result takes the callback off. */
export function afterPatience(ms: number, over: () => void): () => void {
  // In two halves: the timers of a process that was stopped fire before it sees what clients have taken meanwhile.
  const half = Math.ceil(ms / 2);
  let timer = setTimeout(() => {
    timer = setTimeout(over, half).unref();
  }, half).unref();
  return () => clearTimeout(timer);
}

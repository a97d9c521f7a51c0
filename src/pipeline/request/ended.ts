import type { Response } from "express-types";

/** Responses of which `end()` was called, and that middleware ends later. */
const ended = new WeakSet<object>();

/**
 * Notes when an answer is ended. Middleware that compresses answers or saves sessions has an `end()` of its own, which ends
 * the response later.
 */
export function watchEnd(res: Response): void {
  if (!Object.hasOwn(res, "end")) return;
  const end = res.end as (...args: unknown[]) => Response;
  res.end = ((...args: unknown[]) => {
    ended.add(res);
    return end.apply(res, args);
  }) as Response["end"];
}

export function hasEnded(res: Response): boolean {
  return res.writableEnded || ended.has(res);
}

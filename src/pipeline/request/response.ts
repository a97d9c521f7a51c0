import type { Response } from "express-types";
import type { Socket } from "node:net";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/** A client would read `//name` in `Location` as another host. */
export function pathOf({ baseUrl, path }: FrameworkRequest): string {
  const whole = `${baseUrl}${path}`.replace(/^[/\\]+/, "/");
  let end = whole.length;
  while (whole[end - 1] === "/") end--;
  return whole.slice(0, end);
}

/** `Vary` is not overwritten, because several steps add request headers on which the answer depends. */
export function setHeader(res: Response, [name, value]: readonly [string, string]): void {
  if (name.toLowerCase() === "vary") res.vary(value);
  else res.setHeader(name, value);
}

export function isOver({ res, socket }: FrameworkRequest): boolean {
  // Node does not destroy a waiting pipelined response when the connection closes.
  return (res !== undefined && hasEnded(res)) || res?.destroyed === true ||
    socket?.destroyed === true;
}

/** A single listener for each socket, so that pipelined requests do not add listeners. */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/** Node emits no `close` for a pipelined response that waits. */
export function onConnectionClose(socket: Socket, callback: () => void): () => void {
  // A host without connections gives no socket.
  if (typeof socket?.once !== "function") return () => {};
  let callbacks = closeCallbacks.get(socket);
  if (callbacks === undefined) {
    const all = callbacks = new Set<() => void>();
    closeCallbacks.set(socket, all);
    socket.once("close", () => {
      for (const each of [...all]) each();
    });
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

const ended = new WeakSet<object>();

/**
 * Compression and sessions replace `end()` and delay `writableEnded`. Without this mark, an error would be answered
 * after the end.
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

import type { Request, Response } from "express-types";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { hasEnded, onConnectionClose } from "../../pipeline/request/reply.ts";

/** How much is written at a time: a client has to take it within the time limit. */
export const PIECE = 64 * 1024;

/** Whether a response waits behind another one of its connection. */
export function isQueued(res: Response): boolean {
  if (res.socket || res.writableFinished || typeof res.assignSocket !== "function") return false;
  // Node and Deno keep the response that a connection is sending under this name. Without one the wait would never end.
  const { _httpMessage: sending } = (res.req.socket ?? {}) as { readonly "_httpMessage"?: unknown };
  return typeof sending === "object" && sending !== null && sending !== res;
}

/** Waits until a connection sends this response: the answers to pipelined requests go out one after the other. */
export function awaitTurn(res: Response): Promise<boolean> {
  const { socket } = res.req;
  if (socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stopListening = onConnectionClose(socket, () => resolve(false));
    const assign = res.assignSocket;
    // No event tells that a response gets its socket.
    res.assignSocket = (own: Socket) => {
      res.assignSocket = assign;
      stopListening();
      assign.call(res, own);
      resolve(true);
    };
  });
}

/** Breaks off an answer that has begun, by a reset: over HTTP/1.0 a mere end would make it look complete. */
export async function cutAnswer(res: Response): Promise<void> {
  // The connection still belongs to the answers before this one.
  if (isQueued(res) && !await awaitTurn(res)) return;
  try {
    // TLS would end the connection in order: Node and Deno keep the socket below it under this name.
    const { _parent: below } = (res.socket ?? {}) as { readonly "_parent"?: Socket };
    (below ?? res.socket)?.resetAndDestroy();
  } catch {
    // The response is destroyed in any case.
  }
  res.destroy();
}

/** A client that has not taken a piece of its answer in time; the answer was cut. */
export class SlowClientError extends Error {
  override name = "SlowClientError";
  readonly code = "SEND_TIMEOUT";

  constructor({ method, originalUrl }: Request, timeoutMS: number) {
    const [path] = originalUrl.split("?");
    super(
      `Cannot send the answer to ${method} ${path}: its client is too slow for ${timeoutMS} ms`,
    );
  }
}

/** Calls back when a client has had its time. The result takes the callback off. */
export function onSendTimeout(timeoutMS: number, callback: () => void): () => void {
  // In two halves: the timers of a process that was stopped fire before it sees what clients have taken meanwhile.
  const half = Math.ceil(timeoutMS / 2);
  let timer = setTimeout(() => {
    timer = setTimeout(callback, half).unref();
  }, half).unref();
  return () => clearTimeout(timer);
}

/** The most that an answer of the framework leaves unsent: a piece, and the headers. A larger one is that of a hook. */
const MAX_LEFT = 4 * PIECE;

/** Responses that have ended and whose clients are still reading, by server. */
const unflushed = new WeakMap<object, Set<Response>>();

interface FlushOptions {
  readonly timeoutMS: number;
  /** Called with the error once the client was too slow. */
  readonly onLate: (error: SlowClientError) => unknown;
}

/** Notes a response until its client has read it, or has left; cuts it if the client is too slow. */
export function noteUnflushed(res: Response, options: FlushOptions): void {
  const { socket } = res.req;
  // Node and Deno keep the server of a connection under a name of their own.
  const { server } = socket as { readonly server?: object };
  if (server === undefined || !hasEnded(res) || res.writableFinished || res.destroyed) return;
  if (res.writableEnded && res.writableLength === 0) return;
  const all = unflushed.get(server) ?? new Set();
  unflushed.set(server, all.add(res));
  const stopListening = onConnectionClose(socket, done);
  res.once("close", done);
  let stopTimer = () => {};
  if (res.writableLength <= MAX_LEFT) void watch();
  function done(): void {
    stopListening();
    stopTimer();
    all.delete(res);
  }
  async function watch(): Promise<void> {
    if (isQueued(res) && !await awaitTurn(res) || !all.has(res)) return;
    stopTimer = onSendTimeout(options.timeoutMS, () => {
      void cutAnswer(res);
      options.onLate(new SlowClientError(res.req, options.timeoutMS));
    });
  }
}

/** Whether a client of a server is still reading a response that has ended: Node counts its connection as idle. */
export function hasUnflushed(server: object): boolean {
  return (unflushed.get(server)?.size ?? 0) > 0;
}

import type { Request, Response } from "express-types";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import { hasEnded, onConnectionClose } from "../../pipeline/request/response.ts";

/** With request pipelining, an answer may wait for earlier ones on its connection. A reset would cut these. */
export function isQueued(res: Response): boolean {
  if (res.socket || res.writableFinished || typeof res.assignSocket !== "function") return false;
  // Node and Deno keep the response that is being sent as `_httpMessage`. Without one, nothing would end the wait, so
  // the response is not queued.
  const { _httpMessage: sending } = (res.req.socket ?? {}) as { readonly "_httpMessage"?: unknown };
  return typeof sending === "object" && sending !== null && sending !== res;
}

export function awaitTurn(res: Response): Promise<boolean> {
  const { socket } = res.req;
  if (socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stopListening = onConnectionClose(socket, () => resolve(false));
    const assign = res.assignSocket;
    // Node calls `assignSocket()` when the earlier answers are sent, and emits no event.
    res.assignSocket = (own: Socket) => {
      res.assignSocket = assign;
      stopListening();
      assign.call(res, own);
      resolve(true);
    };
  });
}

/** The answers of pipelined requests occupy memory until they can be sent. */
const MAX_AHEAD = 16;

const runningAhead = new WeakMap<Socket, number>();

/** If `false`, the caller must call `awaitTurn()` first. */
export function runsAhead(res: Response): boolean {
  const { socket } = res.req;
  const count = runningAhead.get(socket) ?? 0;
  if (count >= MAX_AHEAD) return false;
  runningAhead.set(socket, count + 1);
  res.once("close", () => runningAhead.set(socket, (runningAhead.get(socket) ?? 1) - 1));
  return true;
}

/** After an ordinary end, the answer would look complete over HTTP/1.0. */
export async function cutAnswer(res: Response): Promise<void> {
  if (isQueued(res) && !await awaitTurn(res)) return;
  try {
    // A TLS socket ends without a reset. Node and Deno keep the TCP socket below it as `_parent`.
    const { _parent: below } = (res.socket ?? {}) as { readonly "_parent"?: Socket };
    (below ?? res.socket)?.resetAndDestroy();
  } catch {
    // `res.destroy()` ends the connection in any case.
  }
  res.destroy();
}

/** The error is reported to `onError`, but not sent to the client. */
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

export function onSendTimeout(timeoutMS: number, callback: () => void): () => void {
  // After a suspension of the process, timers fire before sockets are read, so a single timer would cut a client that
  // has read in time.
  const half = Math.ceil(timeoutMS / 2);
  let timer = setTimeout(() => {
    timer = setTimeout(callback, half).unref();
  }, half).unref();
  return () => clearTimeout(timer);
}

/** A response with more unsent bytes was written by a hook, and has no time limit. */
const MAX_LEFT = 4 * PIECE_BYTES;

/**
 * Ended responses that clients are still reading. Node counts their connections as idle, and `closeIdleConnections()`
 * would cut them.
 */
const unflushed = new WeakMap<object, Set<Response>>();

interface FlushOptions {
  readonly timeoutMS: number;
  readonly onLate: (error: SlowClientError) => unknown;
}

export function noteUnflushed(res: Response, options: FlushOptions): void {
  const { socket } = res.req;
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

export function hasUnflushed(server: object): boolean {
  return (unflushed.get(server)?.size ?? 0) > 0;
}

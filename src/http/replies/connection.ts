import type { Request, Response } from "express-types";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import { hasEnded, onConnectionClose } from "../../pipeline/request/reply.ts";

/**
 * Whether a response waits until its connection has sent the answers to earlier requests (request pipelining). Before a
 * list, a file or a batch is read, the caller must call `awaitTurn()`, because the answer would occupy memory during
 * the wait. For another request, `runsAhead()` decides whether the caller must call `awaitTurn()`. Before a reset of
 * the connection, the caller must call `awaitTurn()` too, because the reset would cut the earlier answers.
 */
export function isQueued(res: Response): boolean {
  if (res.socket || res.writableFinished || typeof res.assignSocket !== "function") return false;
  // Node and Deno store the response that a connection is sending at present as `_httpMessage` of the socket. This
  // response waits only if another response is stored there. Without another response, no event would end the wait, and
  // the request would never be answered.
  const { _httpMessage: sending } = (res.req.socket ?? {}) as { readonly "_httpMessage"?: unknown };
  return typeof sending === "object" && sending !== null && sending !== res;
}

/**
 * Waits until the answers to all earlier requests of the connection are sent, because pipelined requests are answered
 * in their order. Resolves to `false` if the connection closes first, so that the caller stops its work for the answer.
 */
export function awaitTurn(res: Response): Promise<boolean> {
  const { socket } = res.req;
  if (socket.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stopListening = onConnectionClose(socket, () => resolve(false));
    const assign = res.assignSocket;
    // Node calls `assignSocket()` of a response when the connection has sent all earlier answers, and emits no event.
    // The method is therefore replaced until this call, which ends the wait.
    res.assignSocket = (own: Socket) => {
      res.assignSocket = assign;
      stopListening();
      assign.call(res, own);
      resolve(true);
    };
  });
}

/**
 * The maximum number of requests of a connection that run while the connection is still sending earlier answers
 * (request pipelining). The answers of these requests occupy memory until they can be sent.
 */
const MAX_AHEAD = 16;

const runningAhead = new WeakMap<Socket, number>();

/**
 * Whether the request of a waiting response (`isQueued()`) may run before its turn. If so, counts the response until it
 * is closed. If the connection already has `MAX_AHEAD` such responses, the result is `false`, and the caller must call
 * `awaitTurn()` first.
 */
export function runsAhead(res: Response): boolean {
  const { socket } = res.req;
  const count = runningAhead.get(socket) ?? 0;
  if (count >= MAX_AHEAD) return false;
  runningAhead.set(socket, count + 1);
  res.once("close", () => runningAhead.set(socket, (runningAhead.get(socket) ?? 1) - 1));
  return true;
}

/**
 * Ends an incomplete answer by a reset of its connection, so that the client notices the failure. Over HTTP/1.0, an
 * ordinary end of the connection would make the answer look complete.
 */
export async function cutAnswer(res: Response): Promise<void> {
  // A reset ends the whole connection, so the answers to earlier requests have to be sent first.
  if (isQueued(res) && !await awaitTurn(res)) return;
  try {
    // A TLS socket ends its connection in order and without a reset. Node and Deno store the TCP socket below the TLS
    // socket as `_parent`, which can be reset.
    const { _parent: below } = (res.socket ?? {}) as { readonly "_parent"?: Socket };
    (below ?? res.socket)?.resetAndDestroy();
  } catch {
    // A failed reset of the connection has no consequence, because `res.destroy()` ends the connection in any case.
  }
  res.destroy();
}

/**
 * The error of an answer that was not sent to its end, because the client did not read the sent bytes in time. The
 * error is reported to `onError`, and no answer is sent for it.
 */
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

/**
 * Calls a function when a client has not read the sent bytes of an answer within a time limit. Returns a function that
 * stops the timer.
 */
export function onSendTimeout(timeoutMS: number, callback: () => void): () => void {
  // The time limit for a slow client consists of two timers. If the process was suspended, a timer that is due fires
  // before the process reads its sockets. With a single timer, a client that has read in time would lose its
  // connection.
  const half = Math.ceil(timeoutMS / 2);
  let timer = setTimeout(() => {
    timer = setTimeout(callback, half).unref();
  }, half).unref();
  return () => clearTimeout(timer);
}

/**
 * The maximum number of unsent bytes of an answer of the framework at its end. A response with more unsent bytes was
 * written by a hook, and its client gets no time limit.
 */
const MAX_LEFT = 4 * PIECE_BYTES;

/**
 * The responses that have ended and that clients are still reading, by HTTP server. Node counts their connections as
 * idle, so a closing server closes no idle connection while it has such a response.
 */
const unflushed = new WeakMap<object, Set<Response>>();

interface FlushOptions {
  readonly timeoutMS: number;
  /** The function that reports the error of a client that has not read the end of its answer within the time limit. */
  readonly onLate: (error: SlowClientError) => unknown;
}

/**
 * Records an ended response until its client has read the whole response or has disconnected, so that a closing server
 * waits for the client. Ends the connection of a client that is too slow.
 */
export function noteUnflushed(res: Response, options: FlushOptions): void {
  const { socket } = res.req;
  // A closing HTTP server waits for the clients that are still reading its responses, so each response is recorded for
  // its server. Node and Deno store the server of a connection as `socket.server`, a property that their types do not
  // declare.
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

/**
 * Whether a client of a server is still reading a response that has ended. Node counts the connection of such a client
 * as idle, so `closeIdleConnections()` would cut the response.
 */
export function hasUnflushed(server: object): boolean {
  return (unflushed.get(server)?.size ?? 0) > 0;
}

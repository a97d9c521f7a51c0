import type { Response } from "express-types";
import { hasEnded } from "../../pipeline/request/ended.ts";
import {
  awaitTurn,
  cutAnswer,
  isQueued,
  onConnectionClose,
  onSendTimeout,
  SlowClientError,
} from "./connection.ts";
import { PIECE } from "./response_stream.ts";

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

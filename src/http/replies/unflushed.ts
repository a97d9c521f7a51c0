import type { Response } from "express-types";
import { hasEnded } from "../../pipeline/request/reply.ts";
import { awaitTurn, isQueued } from "./await_turn.ts";
import { cutAnswer } from "./cut_answer.ts";
import { onLeave } from "./on_leave.ts";
import { PIECE } from "./response_stream.ts";
import { afterPatience, SlowClientError } from "./slow_client.ts";

/** The most that may be left of an answer of the framework: a piece of text, and the headers. A larger one is of a hook. */
const MOST = 4 * PIECE;

/** Responses that have ended and whose clients are still reading, by server. */
const unflushed = new WeakMap<object, Set<Response>>();

/** What a client may take, and whom to tell that it was too slow. */
interface FlushOptions {
  readonly timeoutMs: number;
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
  const stay = onLeave(socket, done);
  res.once("close", done);
  let stop = () => {};
  if (res.writableLength <= MOST) void watch();
  function done(): void {
    stay();
    stop();
    all.delete(res);
  }
  async function watch(): Promise<void> {
    if (isQueued(res) && !await awaitTurn(res) || !all.has(res)) return;
    stop = afterPatience(options.timeoutMs, () => {
      void cutAnswer(res);
      options.onLate(new SlowClientError(res.req, options.timeoutMs));
    });
  }
}

/** Whether a client of a server is still reading a response that has ended: Node counts its connection as idle. */
export function hasUnflushed(server: object): boolean {
  return (unflushed.get(server)?.size ?? 0) > 0;
}

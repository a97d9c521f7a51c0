import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { Server } from "node:net";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { hasUnflushed } from "./replies/connection.ts";
import { endLongAnswers } from "./replies/server_close.ts";

/** Options of `Framework.close()`. */
export interface CloseOptions {
  /** The time after which busy connections are cut, in milliseconds. The default is `10000`. */
  readonly timeoutMS?: number;
}

const SWEEP_MS = 50;

/** How many sweeps without an answer a connection stays idle: a client may be about to send its next request. */
const GRACE_SWEEPS = 6;

const CUT_MS = 100;

const FINISHED = "http.server.response.finish";

const closing = new WeakMap<object, Promise<void>>();

let closingCount = 0;

export function isAnyClosing(): boolean {
  return closingCount > 0;
}

/**
 * Closes an HTTP server: idle connections end after a grace, in which a request that is on its way is still answered.
 * Calling it again waits for the same end. The host ends WebSockets: the promise does not wait for them.
 */
export function closeServer(
  server: HttpServer | HttpsServer,
  options: CloseOptions = {},
): Promise<void> {
  const { timeoutMS = 10_000, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot close the server: there is no option "${unknown}"`);
  }
  if (!Number.isInteger(timeoutMS) || timeoutMS < 0) {
    throw new RangeError(
      `Cannot close the server: timeoutMS is ${timeoutMS}, not a number of milliseconds`,
    );
  }
  let closed = closing.get(server);
  if (closed === undefined) {
    closingCount++;
    closed = close(server, timeoutMS).finally(() => closingCount--);
    closing.set(server, closed);
  }
  return closed;
}

function close(server: HttpServer | HttpsServer, timeoutMS: number): Promise<void> {
  const onRequest = (_req: unknown, res: ServerResponse) => sayIfClosing(res);
  server.prependListener("request", onRequest);
  const stopSweeping = sweepIdle(server);
  const end = () => {
    stopSweeping();
    Reflect.deleteProperty(server, "listening");
  };
  endLongAnswers(server);
  return new Promise<void>((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
      end();
      // HTTP does not know WebSockets and unfinished handshakes of TLS.
      setTimeout(resolve, CUT_MS);
    }, timeoutMS);
    // Node's `http.Server.close()` would close idle connections at once, and cut answers that slow clients still read.
    Server.prototype.close.call(server, () => {
      clearTimeout(cut);
      end();
      server.off("request", onRequest);
      closing.delete(server);
      resolve();
    });
    // Deno ends a connection after each answer of a server that does not listen, whatever its client has sent since.
    if ("Deno" in globalThis) {
      Object.defineProperty(server, "listening", { configurable: true, value: true });
    }
  });
}

/** Has the client of an answer that has not begun open its next connection elsewhere, if its server is closing. */
export function sayIfClosing(res: ServerResponse): void {
  if (isClosing(res) && !res.headersSent) res.setHeader("Connection", "close");
}

export function isClosing({ req }: ServerResponse): boolean {
  // Node and Deno keep the server of a connection under a name of their own.
  const { server } = req.socket as { readonly server?: object };
  return server !== undefined && closing.has(server);
}

/** Closes idle connections when no answer has ended for a while: after that, its client may send another request. */
function sweepIdle(server: HttpServer | HttpsServer): () => void {
  let sweeps = 0;
  const onFinished = (message: unknown) => {
    if ((message as { readonly server?: unknown }).server === server) sweeps = 0;
  };
  subscribe(FINISHED, onFinished);
  // Sweeps are counted instead of time: a process that was busy has not looked at its sockets meanwhile.
  const sweep = setInterval(() => {
    if (++sweeps >= GRACE_SWEEPS && !hasUnflushed(server)) server.closeIdleConnections();
  }, SWEEP_MS).unref();
  return () => {
    clearInterval(sweep);
    unsubscribe(FINISHED, onFinished);
  };
}

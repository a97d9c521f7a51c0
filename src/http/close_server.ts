import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { Server } from "node:net";
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers";
import { hasUnflushed } from "./replies/connection.ts";
import { endLongAnswers } from "./replies/server_close.ts";

/** The options of `Framework.close()`, which closes an HTTP server when its requests are answered. */
export interface CloseOptions {
  /** The time after which connections with unfinished answers are cut, in milliseconds. The default is `10000`. */
  readonly timeoutMS?: number;
}

const SWEEP_MS = 50;

/**
 * The number of sweeps without a finished answer before a closing server closes idle connections. During these sweeps,
 * a client may still send its next request on an open connection. A sweep runs every `SWEEP_MS`.
 */
const GRACE_SWEEPS = 6;

const CUT_MS = 100;

/**
 * The number of turns of the event loop without a new connection after which a closing server stops listening. Each
 * turn accepts one connection, so no connection is left to accept.
 */
const QUIET_TURNS = 3;

/**
 * The part of the time limit in which a closing server may go on accepting connections, so that clients that keep
 * connecting cannot delay the close without end.
 */
const ACCEPTING_PART = 0.5;

const FINISHED = "http.server.response.finish";

const closing = new WeakMap<object, Promise<void>>();

/** The closing servers that have stopped listening. Their answers get the header `Connection: close`. */
const deaf = new WeakSet<object>();

let closingCount = 0;

export function isAnyClosing(): boolean {
  return closingCount > 0;
}

/**
 * Closes an HTTP server. Idle connections are closed after a grace period, so that requests that are already on their
 * way are answered. Further calls for the same server return the same promise. The promise does not wait for
 * WebSockets, so the application has to close WebSockets.
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

async function close(server: HttpServer | HttpsServer, timeoutMS: number): Promise<void> {
  // Deno has already accepted every connection that the operating system has opened, so only other runtimes have to
  // wait.
  if (!("Deno" in globalThis)) await acceptWaiting(server, timeoutMS * ACCEPTING_PART);
  deaf.add(server);
  const onRequest = (_req: unknown, res: ServerResponse) => sayIfClosing(res);
  server.prependListener("request", onRequest);
  const stopSweeping = sweepIdle(server);
  const end = () => {
    stopSweeping();
    Reflect.deleteProperty(server, "listening");
  };
  endLongAnswers(server);
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
      end();
      // `closeAllConnections()` does not cut WebSockets and unfinished TLS handshakes, so the callback of
      // `Server.prototype.close` may never run.
      setTimeout(resolve, CUT_MS);
    }, timeoutMS);
    // `http.Server.close()` of Node would close idle connections at once, and would cut answers that slow clients are
    // still reading.
    Server.prototype.close.call(server, () => {
      clearTimeout(cut);
      end();
      server.off("request", onRequest);
      closing.delete(server);
      deaf.delete(server);
      resolve();
    });
    // Deno closes a connection after its current answer if the server is not listening. Requests that the client has
    // already sent would get no answer, so `listening` stays `true`.
    if ("Deno" in globalThis) {
      Object.defineProperty(server, "listening", { configurable: true, value: true });
    }
  });
}

/**
 * Waits until the server has accepted the connections that the operating system has opened for it. When the server
 * stops listening, the system resets the connections that are not accepted. Node accepts one connection in each turn of
 * the event loop. During this wait, no answer has the header `Connection: close`, because clients that get this header
 * open new connections.
 */
async function acceptWaiting(server: HttpServer | HttpsServer, mostMS: number): Promise<void> {
  const end = performance.now() + mostMS;
  let quietTurns = 0;
  const onConnection = () => quietTurns = 0;
  server.on("connection", onConnection);
  while (quietTurns++ < QUIET_TURNS && performance.now() < end) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  server.off("connection", onConnection);
}

/**
 * Sets `Connection: close` on an answer that has not begun if its server is closing. The client opens a new connection
 * for its next request, and another server can accept this connection.
 */
export function sayIfClosing(res: ServerResponse): void {
  if (isClosing(res) && !res.headersSent) res.setHeader("Connection", "close");
}

export function isClosing({ req }: ServerResponse): boolean {
  // Node and Deno store the server of a connection as `server`, a property that their types do not declare.
  const { server } = req.socket as { readonly server?: object };
  return server !== undefined && deaf.has(server);
}

/**
 * Closes the idle connections of a closing server after `GRACE_SWEEPS` sweeps in which no answer has ended. A client
 * may send another request after each answer, so each finished answer starts the count again. Returns a function that
 * stops the sweeps.
 */
function sweepIdle(server: HttpServer | HttpsServer): () => void {
  let sweeps = 0;
  const onFinished = (message: unknown) => {
    if ((message as { readonly server?: unknown }).server === server) sweeps = 0;
  };
  subscribe(FINISHED, onFinished);
  // The grace period is a number of sweeps and not a time, because a busy process has not read the requests that
  // arrived while it was busy.
  const sweep = setInterval(() => {
    if (++sweeps >= GRACE_SWEEPS && !hasUnflushed(server)) server.closeIdleConnections();
  }, SWEEP_MS).unref();
  return () => {
    clearInterval(sweep);
    unsubscribe(FINISHED, onFinished);
  };
}

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { Server } from "node:net";
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers";
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

/** How many turns of the event loop without a new connection tell that none waits to be accepted. */
const QUIET_TURNS = 3;

/** The part of the time for closing that a server may go on accepting connections. */
const ACCEPTING_PART = 0.5;

const FINISHED = "http.server.response.finish";

const closing = new WeakMap<object, Promise<void>>();

/** The servers that close and have stopped listening. */
const deaf = new WeakSet<object>();

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

async function close(server: HttpServer | HttpsServer, timeoutMS: number): Promise<void> {
  // Deno has accepted what waits.
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
      // HTTP does not know WebSockets and unfinished handshakes of TLS.
      setTimeout(resolve, CUT_MS);
    }, timeoutMS);
    // Node's `http.Server.close()` would close idle connections at once, and cut answers that slow clients still read.
    Server.prototype.close.call(server, () => {
      clearTimeout(cut);
      end();
      server.off("request", onRequest);
      closing.delete(server);
      deaf.delete(server);
      resolve();
    });
    // Deno ends a connection after each answer of a server that does not listen, whatever its client has sent since.
    if ("Deno" in globalThis) {
      Object.defineProperty(server, "listening", { configurable: true, value: true });
    }
  });
}

/**
 * Waits until the connections that the system has opened for a server are accepted: the system resets the others when the
 * server stops listening. Node accepts one in each turn of the event loop. No answer says `Connection: close` meanwhile, so
 * that clients do not open new connections.
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

/** Has the client of an answer that has not begun open its next connection elsewhere, if its server is closing. */
export function sayIfClosing(res: ServerResponse): void {
  if (isClosing(res) && !res.headersSent) res.setHeader("Connection", "close");
}

export function isClosing({ req }: ServerResponse): boolean {
  // Node and Deno keep the server of a connection under a name of their own.
  const { server } = req.socket as { readonly server?: object };
  return server !== undefined && deaf.has(server);
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

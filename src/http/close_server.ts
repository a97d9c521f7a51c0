import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { Server, type Socket } from "node:net";
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from "node:timers";
import { withTimeLimit } from "../store/time_limit.ts";
import { MAX_TIMER_MS } from "../errors/complete_limits.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { hasUnflushed } from "./replies/connection.ts";
import { endLongRequests } from "./replies/server_close.ts";

/** @internal */
export interface CloseOptions {
  /** The time after which connections with unfinished answers are cut, in milliseconds. The default is `10000`. */
  readonly timeoutMS?: number;
}

const SWEEP_MS = 50;

/** Idle connections stay open for some checks, because clients may still send requests on them. */
const GRACE_SWEEPS = 6;

const CUT_MS = 100;

/** Node accepts one waiting connection in each turn of the event loop. After so many turns without any, none waits. */
const QUIET_TURNS = 3;

/**
 * Accepting connections may take this part of the time limit, or else clients that keep connecting would use up all of
 * it.
 */
const ACCEPTING_PART = 0.5;

const FINISHED = "http.server.response.finish";

const closing = new WeakMap<object, Promise<void>>();

const endings = new Set<() => Promise<void>>();

/** `closeServer()` waits for `end()`, because the application closes the database afterwards. */
export function endAtClose(end: () => Promise<void>): () => void {
  endings.add(end);
  return () => endings.delete(end);
}

/** Servers that no longer listen. Their answers get `Connection: close`, so that clients connect to another server. */
const deaf = new WeakSet<object>();

let closingCount = 0;

export function isAnyClosing(): boolean {
  return closingCount > 0;
}

/** WebSockets stay open: the application has to close them. */
export function closeServer(
  server: HttpServer | HttpsServer,
  options: CloseOptions = {},
): Promise<void> {
  const { timeoutMS = 10_000 } = options;
  const unknown = unknownOption(options, { timeoutMS });
  if (unknown !== undefined) {
    throw new TypeError(`Cannot close the server: there is no option ${unknown}`);
  }
  if (!Number.isInteger(timeoutMS) || timeoutMS < 0 || timeoutMS > MAX_TIMER_MS) {
    throw new RangeError(
      `Cannot close the server: timeoutMS is ${timeoutMS}, not an integer from 0 to ${MAX_TIMER_MS}`,
    );
  }
  let closed = closing.get(server);
  if (closed === undefined) {
    closingCount++;
    const work = [close(server, timeoutMS), endWork(timeoutMS)];
    closed = Promise.all(work).then(() => {}).finally(() => closingCount--);
    closing.set(server, closed);
  }
  return closed;
}

async function close(server: HttpServer | HttpsServer, timeoutMS: number): Promise<void> {
  // Deno accepts each connection at once, so none is waiting.
  if (!("Deno" in globalThis)) await acceptWaiting(server, timeoutMS * ACCEPTING_PART);
  deaf.add(server);
  const onRequest = (_req: unknown, res: ServerResponse) => sayIfClosing(res);
  server.prependListener("request", onRequest);
  const stopSweeping = sweepIdle(server);
  const end = () => {
    stopSweeping();
    Reflect.deleteProperty(server, "listening");
  };
  endLongRequests(server);
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
      end();
      // `closeAllConnections()` leaves WebSockets and unfinished TLS handshakes, so the server may never report its
      // end.
      setTimeout(resolve, CUT_MS);
    }, timeoutMS);
    // `close()` of an HTTP server in Node cuts clients that are still reading, unlike `close()` of `net.Server`. Bun's
    // HTTP servers do not extend `net.Server`, and wait for all answers.
    const { close: stop } = server instanceof Server ? Server.prototype : server;
    stop.call(server, () => {
      clearTimeout(cut);
      end();
      server.off("request", onRequest);
      closing.delete(server);
      deaf.delete(server);
      resolve();
    });
    // While `listening` is `false`, Deno closes each connection after its current answer, and requests that are already
    // sent get none. So it stays `true`.
    if ("Deno" in globalThis) {
      Object.defineProperty(server, "listening", { configurable: true, value: true });
    }
  });
}

async function endWork(timeoutMS: number): Promise<void> {
  const limit = { ms: timeoutMS, message: "Cannot end the work of the process" };
  await withTimeLimit(() => Promise.all([...endings].map((end) => end())), limit).catch(() => {});
}

/**
 * When a server stops listening, the operating system resets connections that it has not accepted, so the server first
 * accepts all of them. Until then, no answer has `Connection: close`, because its client would open a new connection.
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

export function sayIfClosing(res: ServerResponse): void {
  if (isClosing(res) && !res.headersSent) res.setHeader("Connection", "close");
}

export function isClosing({ req }: ServerResponse): boolean {
  const { server } = req.socket as { readonly server?: object };
  return server !== undefined && deaf.has(server);
}

/** After each answer, the client may send another request, so the checks for idle connections begin anew. */
function sweepIdle(server: HttpServer | HttpsServer): () => void {
  let sweeps = 0;
  const onFinished = (message: unknown) => {
    if ((message as { readonly server?: unknown }).server === server) sweeps = 0;
  };
  subscribe(FINISHED, onFinished);
  // A busy process reads requests late, but also runs these checks late, so checks are counted and not time.
  const sweep = setInterval(() => {
    if (++sweeps < GRACE_SWEEPS) return;
    closeUnused(server);
    if (!hasUnflushed(server)) server.closeIdleConnections();
  }, SWEEP_MS).unref();
  return () => {
    clearInterval(sweep);
    unsubscribe(FINISHED, onFinished);
  };
}

interface ConnectionsList {
  /** Node lists the connections by this method, and Deno by `_all`. */
  all?(): readonly { readonly socket?: Socket | null }[];
  readonly _all?: Iterable<Socket>;
}

/**
 * Browsers open connections in advance. Before the first byte, Node and Deno do not count these as idle, so
 * `closeIdleConnections()` leaves them open.
 */
function closeUnused(server: HttpServer | HttpsServer): void {
  // Node and Deno do not export the symbol, so it is found by its name.
  const symbol = Object.getOwnPropertySymbols(server)
    .find(({ description }) => description === "http.server.connections");
  const list: ConnectionsList = symbol === undefined ? {} : Reflect.get(server, symbol) ?? {};
  for (const socket of list._all ?? list.all?.().map((parser) => parser.socket) ?? []) {
    if (socket?.bytesRead === 0) socket.destroy();
  }
}

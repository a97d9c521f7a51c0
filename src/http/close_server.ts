import type { Server as HttpServer, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { Server } from "node:net";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { hasUnflushed } from "./replies/unflushed.ts";

/**
 * Options of `Framework.close()`.
 *
 * @example Give slow clients half a minute
 * ```ts
 * import type { CloseOptions } from "@mongrove/mongrove";
 *
 * const options: CloseOptions = { within: 30_000 };
 * ```
 */
export interface CloseOptions {
  /**
   * The time after which busy connections are cut, in milliseconds.
   *
   * @default {10000}
   */
  readonly within?: number;
}

/** How often idle connections are closed. */
const SWEEP_MS = 50;

/** How long connections that were cut may take to end. */
const GRACE_MS = 100;

const closing = new WeakMap<HttpServer | HttpsServer, Promise<void>>();

/**
 * Closes an HTTP server: no new connections, `Connection: close` on what is still answered, idle connections end at
 * once, and those that are busy after `within` milliseconds are cut. Calling it again waits for the same end. The host
 * ends WebSockets: the promise does not wait for them any longer.
 *
 * @throws {RangeError} If `within` is no number of milliseconds.
 */
export function closeServer(
  server: HttpServer | HttpsServer,
  { within = 10_000 }: CloseOptions = {},
): Promise<void> {
  if (!Number.isInteger(within) || within < 0) {
    throw new RangeError(
      `Cannot close the server: within is ${within}, not a number of milliseconds`,
    );
  }
  let closed = closing.get(server);
  if (closed === undefined) closing.set(server, closed = close(server, within));
  return closed;
}

function close(server: HttpServer | HttpsServer, within: number): Promise<void> {
  server.prependListener("request", sayClose);
  // 0 would be forever.
  const { keepAliveTimeout } = server;
  server.keepAliveTimeout = 1;
  return new Promise<void>((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections();
      // HTTP does not know WebSockets and unfinished handshakes of TLS.
      setTimeout(resolve, GRACE_MS);
    }, within);
    const sweep = setInterval(() => closeIdle(server), SWEEP_MS).unref();
    // Node's `http.Server.close()` would also cut answers that slow clients are still reading.
    Server.prototype.close.call(server, () => {
      clearTimeout(cut);
      clearInterval(sweep);
      server.keepAliveTimeout = keepAliveTimeout;
      server.off("request", sayClose);
      closing.delete(server);
      resolve();
    });
    closeIdle(server);
  });
}

function sayClose(_req: unknown, res: ServerResponse): void {
  res.setHeader("Connection", "close");
}

function closeIdle(server: HttpServer | HttpsServer): void {
  if (!hasUnflushed(server)) server.closeIdleConnections();
}

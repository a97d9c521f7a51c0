import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An application that {@linkcode serve} has started. */
export interface Served {
  /** The URL of the application, without a slash at the end. */
  readonly url: string;
  /**
   * Stops the application and closes all connections at once: requests in progress get no answer. Further calls do
   * nothing.
   */
  readonly stop: () => Promise<void>;
  /** Calls `stop()` at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Serves an application on a free port of 127.0.0.1.
 *
 * @param app An Express application, or another request listener of `node:http`.
 *
 * @example Send a request to an application
 * ```ts
 * import express from "express";
 * import { serve } from "@mongrove/mongrove/testing";
 *
 * const app = express();
 * app.get("/ping", (_req, res) => {
 *   res.json("pong");
 * });
 *
 * const { url, stop } = await serve(app);
 * console.assert(await (await fetch(`${url}/ping`)).json() === "pong");
 * await stop();
 * ```
 */
export async function serve(app: RequestListener): Promise<Served> {
  const server = createServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const stop = () => stopped ??= close();
  return { url: `http://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop };
}

import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** An application that listens. */
export interface Served {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Ends it at once, the connections that clients keep alive included. Calling it again does nothing. */
  readonly stop: () => Promise<void>;
  /** Does the same at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Lets an application listen on a free port of the loopback interface.
 *
 * @param app An Express application, or any listener of `node:http`.
 * @returns Its URL, and the way to stop it.
 *
 * @example A test over HTTP
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

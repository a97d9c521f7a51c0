import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { unavailable } from "../errors/refusals.ts";
import { decodeAllNames } from "../schema/mongoose/connections/decode_all_names.ts";
import { checkConnection, hintAtUnopened } from "../schema/mongoose/connections/one_mongoose.ts";
import { whenOpen } from "../schema/mongoose/connections/when_open.ts";
import type { Patience } from "./patience.ts";

/** Resolves the connection of a request, once: asked for at first need, after the `preFetch` hooks. */
export function openConnection(
  req: FrameworkRequest,
  getConnection: ((req: FrameworkRequest) => MaybePromise<Connection>) | undefined,
  patience: Patience,
): () => Promise<Connection> {
  let opened: Promise<Connection> | undefined;
  return () => opened ??= open(req, getConnection, patience);
}

async function open(
  req: FrameworkRequest,
  getConnection: ((req: FrameworkRequest) => MaybePromise<Connection>) | undefined,
  patience: Patience,
): Promise<Connection> {
  const connection = getConnection === undefined
    ? mongoose.connection
    : await patience.wait(Promise.resolve(runHook("getConnection", () => getConnection(req))));
  checkConnection(connection);
  if (connection.readyState !== OPEN) await patience.wait(waitUntilOpen(connection));
  decodeAllNames(connection);
  return connection;
}

/** How long a connection may take to open. */
const OPENING_MS = 5000;

/** Mongoose's number for a connection that is open. */
export const OPEN = 1;

/**
 * Waits until a connection is open, judged by its state: Mongoose would rather buffer what it cannot send.
 *
 * @throws {RestError} 503 if it does not open in time.
 */
async function waitUntilOpen(connection: Connection): Promise<void> {
  const open = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      leave();
      resolve(false);
    }, OPENING_MS);
    const leave = whenOpen(connection, () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
  if (open || (connection.readyState as number) === OPEN) return;
  hintAtUnopened(connection);
  throw unavailable(new mongoose.mongo.MongoNotConnectedError("The connection is not open"));
}

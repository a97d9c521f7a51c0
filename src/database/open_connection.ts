import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { unavailable } from "../errors/refusals.ts";
import { decodeAllNames } from "../schema/mongoose/connections/decode_all_names.ts";
import { checkConnection, hintAtUnopened } from "../schema/mongoose/connections/one_mongoose.ts";
import { isOpen, whenOpen } from "../schema/mongoose/connections/when_open.ts";
import type { TimeBudget } from "./time_budget.ts";

const OPENING_MS = 5000;

export interface OpenConnectionOptions {
  /** The host's hook; without it, Mongoose's default connection is used. */
  readonly getConnection: ((req: FrameworkRequest) => MaybePromise<Connection>) | undefined;
  readonly timeBudget: TimeBudget;
}

/** Resolves the connection of a request, once: asked for at first need, after the `preFetch` hooks. */
export function openConnection(
  req: FrameworkRequest,
  options: OpenConnectionOptions,
): () => Promise<Connection> {
  let opened: Promise<Connection> | undefined;
  return () => opened ??= open(req, options);
}

async function open(
  req: FrameworkRequest,
  { getConnection, timeBudget }: OpenConnectionOptions,
): Promise<Connection> {
  const connection = getConnection === undefined
    ? mongoose.connection
    : await timeBudget.wait(Promise.resolve(runHook("getConnection", () => getConnection(req))));
  checkConnection(connection);
  if (!isOpen(connection)) await timeBudget.wait(waitUntilOpen(connection));
  decodeAllNames(connection);
  return connection;
}

/** Waits until the state of a connection is open: Mongoose would buffer what it cannot send. */
async function waitUntilOpen(connection: Connection): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      leave();
      resolve();
    }, OPENING_MS);
    const leave = whenOpen(connection, () => {
      clearTimeout(timer);
      resolve();
    });
  });
  if (isOpen(connection)) return;
  hintAtUnopened(connection);
  throw unavailable(new mongoose.mongo.MongoNotConnectedError("The connection is not open"));
}

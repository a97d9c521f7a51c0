import mongoose from "mongoose";
import type { Connection, mongo } from "mongoose";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { runHook } from "../declare/hooks/run_hook.ts";
import { StoreFailure } from "../errors/failure.ts";
import {
  checkConnection,
  decodeAllNames,
  hintAtUnopened,
  isOpen,
} from "../schema/mongoose/connections.ts";
import { traceStatements } from "../schema/mongoose/statements/trace_statements.ts";
import { runOutside } from "../schema/mongoose/statements/transaction_around.ts";
import type { TimeBudget } from "./time_budget.ts";
import { withTimeLimit } from "./time_limit.ts";

const OPENING_MS = 5000;

const POLL_MS = 100;

const LOOK_MS = 500;

const looking = new WeakSet<mongo.MongoClient>();

type GetConnection = (req: FrameworkRequest) => MaybePromise<Connection>;

/** By client and database name, because a hook may return a new connection of `useDb()` for each request. */
const givenConnections = new Map<GetConnection, Map<object, Map<string, Connection>>>();

/** Node warns of more than ten listeners, so each connection has one. */
const watched = new WeakSet<Connection>();

export function connectionsFrom(getConnection?: GetConnection): Connection[] {
  const given = getConnection === undefined
    ? [...givenConnections.values()]
    : [givenConnections.get(getConnection) ?? new Map<object, Map<string, Connection>>()];
  const all = given.flatMap((ofClients) => [...ofClients.values()]);
  return [...new Set(all.flatMap((ofNames) => [...ofNames.values()]))];
}

function remember(connection: Connection, getConnection: GetConnection): void {
  const { name } = connection;
  const client = connection.getClient() ?? connection;
  const ofClients = givenConnections.get(getConnection) ??
    new Map<object, Map<string, Connection>>();
  const ofNames = ofClients.get(client) ?? new Map<string, Connection>();
  const earlier = ofNames.get(name);
  if (earlier === connection || earlier !== undefined && isOpen(earlier)) return;
  givenConnections.set(getConnection, ofClients.set(client, ofNames.set(name, connection)));
  if (watched.has(connection)) return;
  watched.add(connection);
  connection.once("close", () => forget(connection));
}

/** The client and the name may have changed at the opening, so all keys are searched. */
function forget(connection: Connection): void {
  watched.delete(connection);
  for (const ofClients of givenConnections.values()) {
    for (const [client, ofNames] of ofClients) {
      for (const [name, each] of ofNames) if (each === connection) ofNames.delete(name);
      if (ofNames.size === 0) ofClients.delete(client);
    }
  }
}

export function requestConnection(
  req: FrameworkRequest,
  { getConnection, timeBudget }: {
    readonly getConnection: GetConnection | undefined;
    readonly timeBudget: TimeBudget;
  },
): () => Promise<Connection> {
  const open = async () => {
    const connection = getConnection === undefined
      ? mongoose.connection
      : await timeBudget.wait(Promise.resolve(runHook("getConnection", () => getConnection(req))));
    checkConnection(connection);
    if (getConnection !== undefined) remember(connection, getConnection);
    if (!isOpen(connection)) await timeBudget.wait(waitUntilOpen(connection));
    decodeAllNames(connection);
    traceStatements(connection);
    return connection;
  };
  let opened: Promise<Connection> | undefined;
  return () => opened ??= open();
}

/** Mongoose would buffer statements of a closed connection. It can open without an event, so its state is polled. */
async function waitUntilOpen(connection: Connection): Promise<void> {
  for (let waited = 0; waited < OPENING_MS && !isOpen(connection); waited += POLL_MS) {
    if (waited % LOOK_MS === 0) look(connection);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  if (isOpen(connection)) return;
  hintAtUnopened(connection);
  const cause = new mongoose.mongo.MongoNotConnectedError("The connection is not open");
  throw new StoreFailure({ kind: "away", reason: "outage" }, cause);
}

/** While a command such as this ping waits, the driver looks for servers every 500 ms instead of 10 seconds. */
function look(connection: Connection): void {
  const client = connection.getClient();
  const { db } = connection;
  if (db === undefined || looking.has(client)) return;
  looking.add(client);
  const done = () => void looking.delete(client);
  const limit = { ms: OPENING_MS, message: "Cannot look for a server" };
  const ping = () => withTimeLimit((signal) => db.command({ ping: 1 }, { signal }), limit);
  runOutside(ping).then(done, done);
}

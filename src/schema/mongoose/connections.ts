import mongoose from "mongoose";
import type { Connection, Model, Mongoose } from "mongoose";
import { logHint } from "../../errors/log.ts";

const ONE_COPY = `a project needs one copy, "mongoose@^${parseInt(mongoose.version)}"; ` +
  `"npm ls mongoose", or "deno info main.ts", shows which there are`;

/**
 * Checks that a connection belongs to the copy of Mongoose that is used here: models of one copy never get an answer
 * through a connection of another.
 */
export function checkConnection(connection: unknown): asserts connection is Connection {
  if (connection instanceof mongoose.Connection) return;
  const { base } = Object(connection) as { base?: { version?: unknown } };
  throw new TypeError(
    base === undefined
      ? `Cannot use the connection: it is not a Mongoose connection but ${typeof connection}`
      : `Cannot use the connection: it belongs to another copy of Mongoose (${base.version}) than ` +
        `Mongrove's (${mongoose.version}); ${ONE_COPY}`,
  );
}

const hinted = new WeakSet<Connection>();

/** Logs, once, why a connection is not open: it was never opened, or Mongoose has given up. */
export function hintAtUnopened(connection: Connection): void {
  if (hinted.has(connection)) return;
  if (connection.getClient()) return hintAtFailed(connection);
  if (connection !== mongoose.connection) return;
  hinted.add(connection);
  logHint(
    `Cannot reach the database: mongoose.connect() was not called on Mongrove's copy of Mongoose ` +
      `(${mongoose.version}). If it was called, it was on another copy; ${ONE_COPY}`,
  );
}

/** Logs that the first attempt to open a connection has failed: Mongoose makes no second one. */
function hintAtFailed(connection: Connection): void {
  connection.asPromise().catch((error: Error) => {
    if (connection.readyState !== mongoose.STATES.disconnected || hinted.has(connection)) return;
    hinted.add(connection);
    logHint(
      `Cannot reach the database: the first attempt to connect failed (${error.message}), and Mongoose makes no ` +
        `second one; repeat connect() or openUri() until it succeeds`,
    );
  });
}

export function isOpen({ readyState }: Connection): boolean {
  return readyState === mongoose.ConnectionStates.connected;
}

interface KnownServer {
  readonly type?: string;
  readonly isWritable?: boolean;
  /** When the server has last answered the driver's monitor, by `performance.now()`. */
  readonly lastUpdateTime?: number;
}

interface KnownServers {
  readonly topology?: {
    readonly description?: { readonly servers?: ReadonlyMap<string, KnownServer> };
    readonly s?: {
      readonly servers?: ReadonlyMap<
        string,
        { readonly pool?: { readonly currentCheckedOutCount?: number } }
      >;
    };
  };
}

/** Whether an open connection leads to a standalone server; `false` where that is not known. */
export function isStandalone(connection: Connection): boolean {
  if (!isOpen(connection)) return false;
  // The driver declares no way to ask without waiting.
  const { topology } = connection.getClient() as KnownServers;
  const [server] = topology?.description?.servers?.values() ?? [];
  return server?.type === "Standalone";
}

/** How much later than planned a monitor may hear of its server. */
const HEARTBEAT_MARGIN_MS = 1000;

/**
 * Whether statements use all connections of the pool, and the server answers the driver's monitor, which has a connection
 * beside the pool.
 */
export function isPoolBusy(connection: Connection): boolean {
  const client = connection.getClient();
  const { maxPoolSize = 100, heartbeatFrequencyMS = 10_000 } = client.options;
  const { description, s } = (client as KnownServers).topology ?? {};
  return [...s?.servers ?? []].some(([address, { pool }]) => {
    const { isWritable, lastUpdateTime = -Infinity } = description?.servers?.get(address) ?? {};
    const silentMS = performance.now() - lastUpdateTime;
    return isWritable === true && maxPoolSize > 0 &&
      (pool?.currentCheckedOutCount ?? 0) >= maxPoolSize &&
      silentMS < heartbeatFrequencyMS + HEARTBEAT_MARGIN_MS;
  });
}

export function connectionOf(work: unknown): Connection | undefined {
  if (work instanceof mongoose.Query) return (work.model as Model<unknown>).db as Connection;
  if (!(work instanceof mongoose.Aggregate)) return undefined;
  return (work.model() as Model<unknown> | undefined)?.db as Connection | undefined;
}

/** Makes a connection that never opens, and that Mongoose does not list: for models that cast and validate only. */
export function makeDetachedConnection(base: Mongoose = mongoose): Connection {
  const Connection = mongoose.Connection as unknown as new (base: unknown) => Connection;
  return new Connection(base);
}

/**
 * Has the driver decode arrays whatever they are called: it looks up their names in a plain object, and leaves those
 * undecoded that every object has, such as `toString`.
 */
export function decodeAllNames(connection: Connection): void {
  const { bsonOptions } = connection.getClient() as { bsonOptions?: { fieldsAsRaw?: unknown } };
  const undecoded = Object(bsonOptions?.fieldsAsRaw);
  if (Object.getPrototypeOf(undecoded) === Object.prototype) Object.setPrototypeOf(undecoded, null);
}

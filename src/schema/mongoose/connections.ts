import mongoose from "mongoose";
import type { Connection, Model, Mongoose } from "mongoose";
import { logHint } from "../../errors/log.ts";

const ONE_COPY = `a project needs one copy, "mongoose@^${parseInt(mongoose.version)}"; ` +
  `"npm ls mongoose", or "deno info main.ts", shows which there are`;

/** Operations would wait forever on a connection of another copy of Mongoose. */
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

/** The error of a waiting request does not say why the connection is not open. */
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

/** Each `useDb()` without `useCache` returns another connection, so client and name are compared. */
export function haveSameDatabase(one: Connection, other: Connection): boolean {
  return one === other || one.getClient() === other.getClient() && one.name === other.name;
}

export function isOpen({ readyState }: Connection): boolean {
  return readyState === mongoose.ConnectionStates.connected;
}

interface KnownServer {
  readonly type?: string;
  readonly isWritable?: boolean;
  /** The time of the last reply to the monitor, by `performance.now()`. */
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

/** A standalone server has neither transactions nor change streams. `false` while the type is unknown. */
export function isStandalone(connection: Connection): boolean {
  if (!isOpen(connection)) return false;
  // No public method of the driver returns the server's type without a round trip.
  const { topology } = connection.getClient() as KnownServers;
  const [server] = topology?.description?.servers?.values() ?? [];
  return server?.type === "Standalone";
}

/** A `mongos` counts too, because its shards are replica sets. */
export function isReplicated(connection: Connection): boolean {
  const { topology } = connection.getClient() as KnownServers;
  const servers = [...topology?.description?.servers?.values() ?? []];
  return servers.length > 1 || servers.some(({ type }) => type === "Mongos");
}

const HEARTBEAT_MARGIN_MS = 1000;

/** If the server replies to the driver's monitor on a separate connection, a slow ping means a busy pool. */
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

/** This connection never opens, and `mongoose.connections` does not list it. */
export function makeDetachedConnection(base: Mongoose = mongoose): Connection {
  const Connection = mongoose.Connection as unknown as new (base: unknown) => Connection;
  return new Connection(base);
}

/** The driver looks up field names in a plain object, so it would not decode an array named `toString`. */
export function decodeAllNames(connection: Connection): void {
  const { bsonOptions } = connection.getClient() as { bsonOptions?: { fieldsAsRaw?: unknown } };
  const undecoded = Object(bsonOptions?.fieldsAsRaw);
  if (Object.getPrototypeOf(undecoded) === Object.prototype) Object.setPrototypeOf(undecoded, null);
}

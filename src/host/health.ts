import mongoose, { type Connection, type Model } from "mongoose";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { connectionsFrom } from "../store/request_connection.ts";
import { TimeLimitError, withTimeLimit } from "../store/time_limit.ts";
import { indexBuilds } from "../schema/index_builds.ts";
import { isOpen, isPoolBusy } from "../schema/mongoose/connections.ts";
import { isAnyClosing } from "../http/close_server.ts";
import { reasonsToWait } from "./readiness.ts";

/** The health of an application. */
export interface Health {
  /** Always `true`. Restart a process that does not answer. */
  readonly live: boolean;
  /**
   * `false` if a database does not answer in time, a unique index is not built, migrations have not ended, or a server
   * is closing.
   */
  readonly ready: boolean;
  /** Why requests cannot be served. */
  readonly reasons: readonly string[];
}

/** Probes of orchestrators give up after a second. */
const DEADLINE_MS = 800;

let checking: Promise<Health> | undefined;

/** Simultaneous probes share a check, so that they ping a slow database only once. */
export function health(): Promise<Health> {
  return checking ??= look().finally(() => checking = undefined);
}

async function look(): Promise<Health> {
  const closing = isAnyClosing() ? ["A server is closing"] : [];
  const end = performance.now() + DEADLINE_MS;
  // Connections of `useDb()` share a client, so thousands of tenants need only one ping.
  const clients = Map.groupBy(servedConnections(), (each) => each.getClient() ?? each).values();
  const found = await Promise.all([...clients].map((each) => findProblems(each, end)));
  const reasons = [...closing, ...reasonsToWait(), ...found.flat()];
  return { live: true, ready: reasons.length === 0, reasons };
}

function servedConnections(): Set<Connection> {
  const { connection } = mongoose;
  return new Set([...connection.modelNames().length > 0 ? [connection] : [], ...connectionsFrom()]);
}

async function findProblems(connections: readonly Connection[], end: number): Promise<string[]> {
  const [connection] = connections as [Connection];
  const name = connection === mongoose.connection
    ? "The default connection"
    : `The connection to "${connection.name}"`;
  if (!isOpen(connection)) return [`${name} is not open`];
  const problem = await findPingProblem(connection, end);
  if (problem !== undefined) return [`${name} ${problem}`];
  const builds = connections.flatMap(({ models }) => Object.values(models))
    .flatMap((model) => indexBuilds(model as Model<unknown>) ?? []);
  const standing = await Promise.all(builds.map((each) => holds(each.areUniqueStanding(), end)));
  return builds.filter((_, index) => !standing[index])
    .map(({ name }) => `The unique indexes of "${name}" are not built`);
}

async function findPingProblem(
  connection: Connection,
  end: number,
): Promise<string | undefined> {
  const db = connection.getClient().db(connection.name);
  const limit = { ms: Math.max(0, end - performance.now()), message: "Cannot ping" };
  try {
    await withTimeLimit((signal) => db.command({ ping: 1 }, { signal }), limit);
    return undefined;
  } catch (error) {
    // The message may name hosts and users of the database, so only the code is shown.
    if (!(error instanceof TimeLimitError)) {
      return `fails: ${Object(error).codeName ?? Object(error).name}`;
    }
    // Until the next turn of the event loop, the aborted ping would make the pool look busy.
    await new Promise((resolve) => setImmediate(resolve));
    return isPoolBusy(connection) ? undefined : `does not answer in ${DEADLINE_MS} ms`;
  }
}

/** A build that fails or takes too long counts as not done. */
async function holds(work: Promise<unknown> | undefined, end: number): Promise<boolean> {
  let timer;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, end - performance.now()), false);
  });
  const result = Promise.resolve(work).then((given) => given !== false, () => false);
  const held = await Promise.race([result, late]);
  clearTimeout(timer);
  return held;
}

import { endProcesses } from "./end_processes.ts";
import type { TestMongo } from "./test_mongo.ts";

/** Options of {@linkcode startMongo}. */
export interface StartMongoOptions {
  /** How many members the replica set has; transactions need one at least. @default {0, a server that is no replica set} */
  readonly replicaSet?: number;
  /** The database that the connection string names. @default {"test"} */
  readonly dbName?: string;
}

/** Servers of real life have it, and transactions need it. */
const STORAGE_ENGINE = "wiredTiger";

/**
 * Starts a MongoDB of its own for a test, on a free port of the loopback interface. Its data is gone when it stops.
 *
 * It is a `mongod` that mongodb-memory-server runs: one that it fetches at the first use, or the one that the
 * environment variable `MONGOMS_SYSTEM_BINARY` names. The package is loaded by this call, and nowhere else.
 *
 * @param options See {@linkcode StartMongoOptions}.
 * @returns The running MongoDB; `stop()`, or the end of an `await using` block, ends it.
 * @throws {RangeError} If `replicaSet` is no count.
 * @throws {Error} If there is no `mongod`, and none can be fetched.
 *
 * @example A test against a real MongoDB
 * ```ts ignore
 * import mongoose from "mongoose";
 * import { getModel } from "@mongrove/mongrove";
 * import { startMongo } from "@mongrove/mongrove/testing";
 * import { Movie } from "./movie.ts";
 *
 * Deno.test("movies are counted", async () => {
 *   await using mongo = await startMongo();
 *   await mongoose.connect(mongo.uri);
 *   await getModel(Movie).create({ name: "Alien", description: "A crew answers a signal." });
 *   console.assert(await getModel(Movie).countDocuments() === 1);
 *   await mongoose.disconnect();
 * });
 * ```
 *
 * @example Transactions
 * ```ts ignore
 * await using mongo = await startMongo({ replicaSet: 1 });
 * ```
 */
export async function startMongo(options: StartMongoOptions = {}): Promise<TestMongo> {
  const { replicaSet = 0, dbName = "test" } = options;
  if (!Number.isInteger(replicaSet) || replicaSet < 0) {
    throw new RangeError(`Cannot start MongoDB: replicaSet is ${replicaSet}, not a count`);
  }
  const { MongoMemoryReplSet, MongoMemoryServer } = await import("mongodb-memory-server");
  const server = replicaSet === 0
    ? await MongoMemoryServer.create({ instance: { storageEngine: STORAGE_ENGINE } })
    : await MongoMemoryReplSet.create({
      replSet: { count: replicaSet, storageEngine: STORAGE_ENGINE },
    });
  const end = async () => {
    await endProcesses(server);
    await server.stop({ doCleanup: true, force: true });
  };
  let ended: Promise<void> | undefined;
  const stop = () => ended ??= end();
  return { uri: server.getUri(dbName), stop, [Symbol.asyncDispose]: stop };
}

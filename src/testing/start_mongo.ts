import { endProcesses } from "./end_processes.ts";
import type { TestMongo } from "./test_mongo.ts";

/** Options of {@linkcode startMongo}. */
export interface StartMongoOptions {
  /**
   * The number of members of a replica set. With 0, the server is not in a replica set. Transactions need at least 1.
   *
   * @default {0}
   */
  readonly replicaSet?: number;
  /**
   * The name of the database in the connection string.
   *
   * @default {"test"}
   */
  readonly dbName?: string;
}

/** The engine of production servers, which transactions need. */
const STORAGE_ENGINE = "wiredTiger";

/**
 * Starts a MongoDB for a test, on a free port of 127.0.0.1. Its data is deleted when it stops.
 *
 * The package mongodb-memory-server runs `mongod`. On first use it downloads `mongod`, unless the environment variable
 * `MONGOMS_SYSTEM_BINARY` has the path of one. This function is the only one that loads the package.
 *
 * @param options Options of the server.
 * @returns The running MongoDB. To stop it, call `stop()` or use `await using`.
 * @throws {RangeError} If `replicaSet` is not an integer of at least 0.
 * @throws {Error} If there is no `mongod` and it cannot be downloaded.
 *
 * @example Test with a real MongoDB
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
 * @example Start a replica set, for transactions
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

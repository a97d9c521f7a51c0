import mongoose, { type Connection } from "mongoose";
import { withDatabase } from "../../tests/harness/database_uri.ts";
import { startMongo } from "../../tests/harness/mongo/start_mongo.ts";
import { COLLECTIONS, CREATED, LARGEST } from "../plan/collections.ts";
import { itemBody, itemId } from "../plan/items.ts";
import { DEEP_SORT } from "../plan/ranked.ts";
import { seedRanked } from "./seed_ranked.ts";

/** The database that all servers serve. */
export interface BenchDatabase extends AsyncDisposable {
  /** Its connection string. */
  readonly uri: string;
  /** The version of MongoDB. */
  readonly version: string;
  /** The process of the database; 0 if it is not one of ours. */
  readonly pid: number;
  /** Removes what was created. */
  emptyCreated(): Promise<void>;
}

/** How many documents one insert carries. */
const BATCH = 5_000;

/**
 * Starts a MongoDB, and fills a new database with the collections.
 *
 * @param largest The most documents of a collection.
 * @param transactions Whether it has transactions.
 * @returns The database; disposing drops it and stops the MongoDB.
 */
export async function openBenchDatabase(
  largest: number,
  transactions = false,
): Promise<BenchDatabase> {
  const mongo = await startMongo({ replicaSet: transactions ? 1 : 0 });
  const uri = withDatabase(mongo.uri, `mongrove_bench_${crypto.randomUUID().slice(0, 8)}`);
  const connection = await mongoose.createConnection(uri).asPromise();
  for (const [name, count] of COLLECTIONS) {
    await seed(connection, name, Math.min(count, largest));
  }
  await connection.collection(LARGEST).createIndex({ [DEEP_SORT]: 1, _id: 1 });
  await seedRanked(connection);
  const status = await connection.db?.admin().serverStatus();
  return {
    uri,
    version: status?.version,
    pid: mongo.mongod === undefined ? 0 : Number(status?.pid),
    async emptyCreated(): Promise<void> {
      await connection.collection(CREATED).deleteMany({});
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await connection.dropDatabase();
      await connection.close();
      await mongo.stop();
    },
  };
}

async function seed(connection: Connection, name: string, count: number): Promise<void> {
  const collection = connection.collection(name);
  if (count === 0) await connection.createCollection(name);
  for (let start = 0; start < count; start += BATCH) {
    const length = Math.min(BATCH, count - start);
    await collection.insertMany(Array.from({ length }, (_, step) => stored(start + step)));
  }
}

function stored(index: number): Record<string, unknown> {
  const body = itemBody(index);
  const _id = new mongoose.Types.ObjectId(itemId(index));
  return { _id, ...body, created: new Date(body.created), __v: 0 };
}

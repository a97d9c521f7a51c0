import mongoose, { type Connection } from "mongoose";
import { withDatabase } from "../../tests/harness/database_uri.ts";
import { startMongo } from "../../tests/harness/mongo/start_mongo.ts";
import { COLLECTIONS, CREATED } from "../plan/collections.ts";
import { FIELD_COUNTS, WIDE_COUNT, wideBody, wideOf } from "../plan/growth.ts";
import { itemBody, itemId } from "../plan/items.ts";
import { DEEP, DEEP_SORT } from "../plan/ranked.ts";
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

/** Options of {@linkcode openBenchDatabase}. */
interface DatabaseOptions {
  /** Whether it has transactions. */
  readonly transactions?: boolean | undefined;
  /** Whether it has what shows how cost grows. */
  readonly grows?: boolean;
}

/** How many documents one insert carries. */
const BATCH = 5_000;

/**
 * Starts a MongoDB, and fills a new database with the collections.
 *
 * @param largest The most documents of a collection.
 * @param options See {@linkcode DatabaseOptions}.
 * @returns The database; disposing drops it and stops the MongoDB.
 */
export async function openBenchDatabase(
  largest: number,
  { transactions = false, grows = false }: DatabaseOptions = {},
): Promise<BenchDatabase> {
  const mongo = await startMongo({ replicaSet: transactions ? 1 : 0 });
  const uri = withDatabase(mongo.uri, `mongrove_bench_${crypto.randomUUID().slice(0, 8)}`);
  const connection = await mongoose.createConnection(uri).asPromise();
  for (const [name, count] of COLLECTIONS) {
    await seed(connection, name, Math.min(count, largest));
  }
  await seedRanked(connection);
  if (grows) {
    await seed(connection, DEEP, largest);
    await connection.collection(DEEP).createIndex({ [DEEP_SORT]: 1, _id: 1 });
    for (const count of FIELD_COUNTS) await seedWide(connection, count);
  }
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

async function seedWide(connection: Connection, fields: number): Promise<void> {
  const documents = Array.from({ length: WIDE_COUNT }, (_, index) => {
    return { _id: new mongoose.Types.ObjectId(itemId(index)), ...wideBody(index, fields), __v: 0 };
  });
  await connection.collection(wideOf(fields)).insertMany(documents);
}

function stored(index: number): Record<string, unknown> {
  const body = itemBody(index);
  const _id = new mongoose.Types.ObjectId(itemId(index));
  return { _id, ...body, created: new Date(body.created), __v: 0 };
}

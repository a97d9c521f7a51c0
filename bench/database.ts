/** The database of a run. @module */
import mongoose from "mongoose";
import { withDatabase } from "../tests/harness/database_uri.ts";
import { startMongo } from "../tests/harness/mongo/start_mongo.ts";
import * as data from "./data.ts";
import { itemId } from "./data.ts";

export interface BenchDatabase extends AsyncDisposable {
  readonly uri: string;
  /** The version of MongoDB. */
  readonly version: string;
  /** The process of the database; 0 if the bench did not start it. */
  readonly pid: number;
  /** Removes the entities that were created. */
  emptyCreated(): Promise<void>;
}

/** Starts a MongoDB, and fills a new database, also with the collections of `--growth` if that is measured. Disposing drops the database, and stops the MongoDB. */
export async function openBenchDatabase(
  largest: number,
  { transactions, growth }: Readonly<Record<"transactions" | "growth", boolean>>,
): Promise<BenchDatabase> {
  const mongo = await startMongo({ replicaSet: transactions ? 1 : 0 });
  const uri = withDatabase(mongo.uri, `mongrove_bench_${crypto.randomUUID().slice(0, 8)}`);
  const connection = await mongoose.createConnection(uri).asPromise();
  const id = (index: number) => new mongoose.Types.ObjectId(itemId(index));
  const seed = async (name: string, count: number, bodyOf: (index: number) => object) => {
    await connection.createCollection(name);
    for (let start = 0; start < count; start += 5_000) {
      const batch = Array.from({ length: Math.min(5_000, count - start) }, (_, step) => {
        return { _id: id(start + step), ...bodyOf(start + step), __v: 0 };
      });
      await connection.collection(name).insertMany(batch);
    }
  };
  for (const [name, count] of data.COLLECTIONS) {
    await seed(name, Math.min(count, largest), data.itemBody);
  }
  for (const option of data.CLASS_OPTIONS) {
    await seed(data.owned(option), data.TARGETS, (index) => {
      return { ...data.itemBody(index), ...data.OWNED };
    });
  }
  await seed(data.RANKED, data.RANKED_COUNT, (index) => {
    return { ...data.rankedBody(index), writer: id(data.writerOf(index)) };
  });
  // Mongrove sorts equal ranks by `_id`; the index serves the other servers as well
  await connection.collection(data.RANKED).createIndex({ rank: -1, _id: 1 });
  await seed(data.WRITERS, data.WRITER_COUNT, data.writerBody);
  if (growth) {
    await seed(data.DEEP, largest, data.itemBody);
    await connection.collection(data.DEEP).createIndex({ [data.DEEP_SORT]: 1, _id: 1 });
    for (const count of data.FIELD_COUNTS) {
      await seed(data.wideOf(count), data.WIDE_COUNT, (index) => data.wideBody(index, count));
    }
  }
  const status = await connection.db?.admin().serverStatus();
  return {
    uri,
    version: status?.version,
    pid: mongo.mongod === undefined ? 0 : Number(status?.pid),
    async emptyCreated(): Promise<void> {
      for (const name of [data.CREATED, ...data.CLASS_OPTIONS.map(data.owned)]) {
        // The identifiers of created entities have the current time, which is later
        const _id = { $gt: id(Math.max(...data.SIZES)) };
        await connection.collection(name).deleteMany(name === data.CREATED ? {} : { _id });
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await connection.dropDatabase();
      await connection.close();
      await mongo.stop();
    },
  };
}

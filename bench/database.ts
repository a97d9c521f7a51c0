/** The database of a run. @module */
import { createHash } from "node:crypto";
import mongoose from "mongoose";
import { withDatabase } from "../tests/harness/database_uri.ts";
import { startMongo } from "../tests/harness/mongo/start_mongo.ts";
import * as data from "./data.ts";
import { itemId } from "./data.ts";

export type BenchDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Starts a MongoDB, with a new database. Disposing drops the database, and stops the MongoDB. */
export async function openDatabase(isReplicaSet: boolean) {
  const mongo = await startMongo({ replicaSet: isReplicaSet ? 1 : 0 });
  const uri = withDatabase(mongo.uri, `mongrove_bench_${crypto.randomUUID().slice(0, 8)}`);
  const connection = await mongoose.createConnection(uri).asPromise();
  const status = await connection.db?.admin().serverStatus();
  return {
    uri,
    connection,
    version: String(status?.version),
    // The process is not known if the bench did not start it
    pid: mongo.mongod === undefined ? 0 : Number(status?.pid),
    /** Removes the entities that were created. */
    async emptyCreated(): Promise<void> {
      for (const name of [data.CREATED, ...data.CLASS_OPTIONS.map(data.owned)]) {
        // The identifiers of created entities have the current time, which is later
        const _id = { $gt: new mongoose.Types.ObjectId(itemId(Math.max(...data.SIZES))) };
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

/** Stores a key, with an index, as Mongrove stores it and as an application by hand does. */
async function fillKeys(connection: mongoose.Connection): Promise<void> {
  const hash = createHash("sha256").update(data.KEY).digest();
  const [owner, lastUsedAt] = [data.SENDER.user, new Date(Date.now() + 3_600_000)];
  const scopes = [`${data.keyed(data.itemsOf(data.TARGETS))}:one`];
  const key = { hash, prefix: "bench", name: "bench", owner, tenant: null, scopes, lastUsedAt };
  const more = { createdAt: new Date(), expiresAt: null, endedAt: null, place: 0 };
  for (const name of ["mongrove_api_keys", data.TOKENS]) {
    await connection.collection(name).createIndex({ hash: 1 }, { unique: true });
    await connection.collection(name).insertOne({ ...key, ...more });
  }
}

/** Fills the collections of the scenarios, and those of `--growth` if that is measured. */
export async function seed(connection: mongoose.Connection, largest: number, isGrowth: boolean) {
  const id = (index: number) => new mongoose.Types.ObjectId(itemId(index));
  const fill = async (name: string, count: number, bodyOf: (index: number) => object) => {
    await connection.createCollection(name);
    for (let start = 0; start < count; start += 5_000) {
      const batch = Array.from({ length: Math.min(5_000, count - start) }, (_, step) => {
        return { _id: id(start + step), ...bodyOf(start + step), __v: 0 };
      });
      await connection.collection(name).insertMany(batch);
    }
  };
  for (const [name, count] of data.COLLECTIONS) {
    await fill(name, Math.min(count, largest), data.itemBody);
  }
  // So that the answers of all these classes have the same length
  const { shop, user } = data.SENDER;
  const added = { shop, createdBy: user, updatedBy: user };
  const ownedBody = (index: number) => ({ ...data.itemBody(index), ...added });
  for (const option of data.CLASS_OPTIONS) await fill(data.owned(option), data.TARGETS, ownedBody);
  await fill(data.RANKED, data.RANKED_COUNT, (index) => {
    const rank = data.rankOf(index);
    return { ...data.itemBody(index), rank, writer: id(data.writerOf(index)) };
  });
  // Mongrove sorts equal ranks by `_id`; the index serves the other servers as well
  await connection.collection(data.RANKED).createIndex({ rank: -1, _id: 1 });
  await fill(data.WRITERS, data.WRITER_COUNT, data.writerBody);
  await fillKeys(connection);
  if (!isGrowth) return;
  await fill(data.DEEP, largest, data.itemBody);
  await connection.collection(data.DEEP).createIndex({ [data.DEEP_SORT]: 1, _id: 1 });
  for (const count of data.FIELD_COUNTS) {
    await fill(data.wideOf(count), data.WIDE_COUNT, (index) => data.wideBody(index, count));
  }
}

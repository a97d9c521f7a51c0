import mongoose, { type Connection } from "mongoose";
import { withDatabase } from "./database_uri.ts";
import "./record_shapes.ts";

/** A database that belongs to one test file. */
export interface TestDatabase extends AsyncDisposable {
  /** Its own random name. */
  readonly name: string;
  /** A connection string that leads to it. */
  readonly uri: string;
  /** Mongoose's default connection. */
  readonly connection: Connection;
  /** Drops it, and closes the connection. */
  [Symbol.asyncDispose](): Promise<void>;
}

const { MongoClient } = mongoose.mongo;

const NAME = /^mongrove_test_[0-9a-f]{16}$/;

/** The databases that this process made and may drop. */
const made = new Set<string>();

/** What drops databases, by the MongoDB, where it outlives the tests. A client for each would be a third of all connections. */
const dropping = new Map<string, InstanceType<typeof MongoClient>>();

/** Tells that a MongoDB outlives the tests of this isolate. */
export function keepDropping(base: string): void {
  if (!dropping.has(base)) dropping.set(base, new MongoClient(base));
}

function makeName(): string {
  const name = `mongrove_test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  made.add(name);
  return name;
}

/**
 * Connects Mongoose's default connection to a new database. Disposing drops that
 * database and closes the connection.
 *
 * @param base The connection string of the MongoDB. No test sets the environment
 * variable: test files that run side by side share it.
 * @returns The database.
 * @throws {Error} If `MONGODB_URI` is not set or leads nowhere.
 */
export async function openDatabase(
  base: string | undefined = Deno.env.get("MONGODB_URI"),
): Promise<TestDatabase> {
  if (!base) {
    throw new Error(
      "Cannot open a database: MONGODB_URI is not set, `deno task test` sets it",
    );
  }
  const name = makeName();
  const uri = withDatabase(base, name);
  await mongoose.connect(uri, { serverSelectionTimeoutMS: 10_000 });
  return {
    name,
    uri,
    connection: mongoose.connection,
    async [Symbol.asyncDispose]() {
      await disconnect();
      await dropDatabase(uri, name);
      forgetModels();
    },
  };
}

/** Makes a new default connection: on the one before, every later test would build the indexes of all models so far. */
function forgetModels(): void {
  Reflect.set(mongoose, "connection", mongoose.createConnection());
  mongoose.connections.pop();
}

/** Closes all connections. The driver may wait for ever for one whose server does not answer any more. */
async function disconnect(): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 20_000);
  });
  await Promise.race([mongoose.disconnect(), late]);
  clearTimeout(timer);
}

/**
 * Drops a database that {@linkcode openDatabase} made, and no other.
 *
 * No connection of the test does it: no index build of a model that is still under
 * way can then bring the database back.
 *
 * @param uri A connection string.
 * @param name The database.
 * @throws {Error} If this process did not make the database.
 */
export async function dropDatabase(uri: string, name: string): Promise<void> {
  if (!NAME.test(name) || !made.has(name)) {
    throw new Error(
      `Cannot drop the database "${name}": it was not made by this test run`,
    );
  }
  const base = Deno.env.get("MONGODB_URI");
  if (base !== undefined) keepDropping(base);
  const [, lasting] = dropping.entries().find(([each]) => uri === withDatabase(each, name)) ?? [];
  const client = lasting ?? new MongoClient(uri);
  await client.db(name).dropDatabase();
  if (!lasting) await client.close();
  made.delete(name);
}

import mongoose, { type Connection } from "mongoose";
import { withDatabase } from "./database_uri.ts";
import "./record_shapes.ts";

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly uri: string;
  readonly connection: Connection;
  [Symbol.asyncDispose](): Promise<void>;
}

const { MongoClient } = mongoose.mongo;

const NAME = /^mongrove_test_[0-9a-f]{16}$/;

const made = new Set<string>();

/**
 * One client for each MongoDB that outlives the tests. A client for each database would be a third of all connections.
 */
const dropping = new Map<string, InstanceType<typeof MongoClient>>();

export function keepDropping(base: string): void {
  if (!dropping.has(base)) dropping.set(base, new MongoClient(base));
}

function makeName(): string {
  const name = `mongrove_test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  made.add(name);
  return name;
}

/**
 * Connects Mongoose's default connection to a new database, which disposing drops.
 *
 * @param base No test sets the environment variable, because test files that run side by side share it.
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

/** On the previous default connection, every later test would build the indexes of all models so far. */
function forgetModels(): void {
  Reflect.set(mongoose, "connection", mongoose.createConnection());
  mongoose.connections.pop();
}

/** The driver may wait for ever for a connection whose server does not answer. */
async function disconnect(): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 20_000);
  });
  await Promise.race([mongoose.disconnect(), late]);
  clearTimeout(timer);
}

/**
 * Drops only databases of {@linkcode openDatabase}. No connection of the test does it, because an index build that is
 * still under way could bring the database back.
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

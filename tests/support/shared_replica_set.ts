import mongoose from "mongoose";
import { keepDropping } from "../harness/database.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { borrowServer, type LentKind, type LentServer } from "../harness/mongo/lend_servers.ts";

const borrowed: Partial<Record<LentKind, Promise<LentServer>>> = {};

Deno.test.afterAll(async () => {
  await Promise.all(Object.values(borrowed).map(async (each) => await (await each).stop()));
});

/** Returns the connection string of a new database on a server that all tests of one isolate share. */
async function sharedServer(kind: LentKind): Promise<string> {
  const { uri } = await (borrowed[kind] ??= borrowServer(kind));
  keepDropping(uri);
  return withDatabase(uri, `shared_${crypto.randomUUID().slice(0, 8)}`);
}

/**
 * Returns a new database on a replica set of one member, which all tests of an isolate share. A test that stops members
 * or needs arguments of the server starts another replica set.
 */
export async function sharedReplicaSet(): Promise<string> {
  return await sharedServer("replicaSet");
}

/** For a test in which commands fail. `stop()` ends the failures. */
export async function openReplicaSet() {
  return await openServer("replicaSet");
}

/** Opens a new database on the shared standalone server, as {@linkcode openReplicaSet} does. */
export async function openStandalone() {
  return await openServer("standalone");
}

async function openServer(kind: LentKind) {
  const uri = await sharedServer(kind);
  const stop = async () => {
    const connection = await mongoose.createConnection(uri).asPromise();
    const off = { configureFailPoint: "failCommand", mode: "off" };
    await connection.getClient().db("admin").command(off);
    await connection.close();
  };
  return { uri, stop, [Symbol.asyncDispose]: stop };
}

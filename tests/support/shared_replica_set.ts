import mongoose from "mongoose";
import { keepDropping } from "../harness/database.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { borrowReplicaSet, type LentReplicaSet } from "../harness/mongo/lend_replica_sets.ts";

let borrowed: Promise<LentReplicaSet> | undefined;

Deno.test.afterAll(async () => await (await borrowed)?.stop());

/**
 * Returns a new database on a replica set of one member, which all tests of an isolate share. A test that stops members
 * or needs arguments of the server starts another replica set.
 */
export async function sharedReplicaSet(): Promise<string> {
  const { uri } = await (borrowed ??= borrowReplicaSet());
  keepDropping(uri);
  return withDatabase(uri, `shared_${crypto.randomUUID().slice(0, 8)}`);
}

/** For a test in which commands fail. `stop()` ends the failures. */
export async function openReplicaSet() {
  const uri = await sharedReplicaSet();
  const stop = async () => {
    const connection = await mongoose.createConnection(uri).asPromise();
    const off = { configureFailPoint: "failCommand", mode: "off" };
    await connection.getClient().db("admin").command(off);
    await connection.close();
  };
  return { uri, stop, [Symbol.asyncDispose]: stop };
}

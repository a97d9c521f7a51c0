import mongoose from "mongoose";
import { withDatabase } from "../harness/database_uri.ts";
import { type RunningMongo, startMongo } from "../harness/mongo/start_mongo.ts";

const COMMANDS_MAY_FAIL = ["--setParameter", "enableTestCommands=1"];

let running: Promise<RunningMongo> | undefined;
let databases = 0;

Deno.test.afterAll(async () => await (await running)?.stop());

/**
 * Returns the connection string of a new database on a replica set of one member, which all tests of one isolate share.
 * A test that stops members, or that gives the server arguments, starts a replica set of its own.
 */
export async function sharedReplicaSet(): Promise<string> {
  const { uri } = await (running ??= startMongo({ replicaSet: 1, args: COMMANDS_MAY_FAIL }));
  return withDatabase(uri, `shared_${databases++}`);
}

/** Opens a new database on the shared replica set for a test that has commands fail. `stop()` ends the failures. */
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

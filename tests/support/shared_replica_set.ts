import { withDatabase } from "../harness/database_uri.ts";
import { type RunningMongo, startMongo } from "../harness/mongo/start_mongo.ts";

let running: Promise<RunningMongo> | undefined;
let databases = 0;

Deno.test.afterAll(async () => await (await running)?.stop());

/**
 * Returns the connection string of a new database on a replica set of one member, which all tests of one isolate share.
 * A test that stops members, or that gives the server arguments, starts a replica set of its own.
 */
export async function sharedReplicaSet(): Promise<string> {
  const { uri } = await (running ??= startMongo({ replicaSet: 1 }));
  return withDatabase(uri, `shared_${databases++}`);
}

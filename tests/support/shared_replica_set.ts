import { type RunningMongo, startMongo } from "../harness/mongo/start_mongo.ts";

let running: Promise<RunningMongo> | undefined;

Deno.test.afterAll(async () => await (await running)?.stop());

/** Gives the connection string of a replica set of one member, which the tests of a run share. */
export async function sharedReplicaSet(): Promise<string> {
  return (await (running ??= startMongo({ replicaSet: 1 }))).uri;
}

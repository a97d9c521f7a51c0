import { assert } from "@std/assert";
import mongoose from "mongoose";
import { all, Framework, FrameworkModel, getModel, rest } from "../../mod.ts";
import { startFollow } from "../../src/changes/follow.ts";
import { follow } from "../../src/changes/mod.ts";
import { QUICK, Ticket } from "../changes/followed.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";
import { signal } from "./support/replica_set.ts";

/** Starts a replica set of one member that can be stopped: it takes connections, and answers nothing. */
async function openStoppable(dbName: string) {
  const mongo = await startMongo({ replicaSet: 1 });
  const connection = await mongoose.createConnection(mongo.uri, { dbName }).asPromise();
  const [member] = mongo.members.flatMap(({ instanceInfo }) => instanceInfo?.instance ?? []);
  assert(member);
  return {
    connection,
    stop: () => signal(member, "SIGSTOP"),
    goOn: () => signal(member, "SIGCONT"),
    async [Symbol.asyncDispose]() {
      signal(member, "SIGCONT");
      await connection.close();
      await mongo.stop();
    },
  };
}

/** How many connections of a pool wait for an answer. */
function busyConnections({ client }: { readonly client: unknown }): () => number {
  const busy = new Set<number>();
  const pool = client as mongoose.mongo.MongoClient;
  pool.on("connectionCheckedOut", ({ connectionId }) => busy.add(Number(connectionId)));
  pool.on("connectionCheckedIn", ({ connectionId }) => busy.delete(Number(connectionId)));
  return () => busy.size;
}

test("a statement of a lease that a stopped database does not answer fails after leaseMS", async () => {
  await using database = await openStoppable("stopped_lease");
  const { connection } = database;
  const tickets = getModel(Ticket, connection);
  await tickets.init();
  const seen: string[] = [];
  const errors: string[] = [];
  await using follower = startFollow(Ticket, {
    options: {
      ...{ name: "test", connection },
      handle: async ({ values }) => void seen.push((await values())?.title ?? ""),
      onError: (error) => void errors.push(String(error)),
    },
    times: QUICK,
  });
  await until(async () => await follower.lag() !== undefined);
  database.stop();
  // The driver itself takes a connection for lost after 30 seconds at the earliest.
  await until(() => errors.length > 0, { seconds: 20 });
  assert(/Cannot (renew|claim) the lease.*has not answered in 2000 ms/.test(errors[0] ?? ""));
  database.goOn();
  await tickets.create({ title: "later" });
  await until(() => seen.includes("later"));
});

test("stop() of a follower returns though the database does not answer", async () => {
  await using database = await openStoppable("stopped_stop");
  const { connection } = database;
  await getModel(Ticket, connection).init();
  const listeners = connection.listenerCount("close");
  const open = async (name: string) => {
    const follower = follow(Ticket, { name, connection, handle: () => {}, onError: () => {} });
    await until(async () => await follower.lag() !== undefined);
    return follower;
  };
  const followers = [await open("a"), await open("b")];
  // One more waits for a lease that another process holds.
  followers.push(await open("b"));
  database.stop();
  const start = performance.now();
  await Promise.all(followers.map((each) => each.stop()));
  const took = performance.now() - start;
  assert(took < 20_000, `it took ${took} ms`);
  database.goOn();
  await until(() => connection.listenerCount("close") === listeners);
});

test("health() leaves no connection of the pool to a stopped database", async () => {
  await using database = await openStoppable("stopped_health");
  const { connection } = database;
  const busy = busyConnections({ client: connection.getClient() });
  @rest({ route: "/stopped", methods: [all()], getConnection: () => connection })
  class Stopped extends FrameworkModel {}
  await using app = await mount([Stopped]);
  await app.get("/stopped");
  const isTold = async () =>
    (await Framework.health()).reasons.some((reason) => reason.includes("stopped_health"));
  await getModel(Stopped, connection).init();
  await until(async () => !await isTold() && busy() === 0);
  database.stop();
  await until(isTold);
  for (let probe = 0; probe < 3; probe++) assert(await isTold());
  await until(() => busy() === 0, { seconds: 10 });
  database.goOn();
  await until(async () => !await isTold());
});

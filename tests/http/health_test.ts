import { assert, assertEquals } from "@std/assert";
import mongoose, { type Connection } from "mongoose";
import { all, create, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import type { LentServer } from "../harness/mongo/lend_servers.ts";
import { longTest, test } from "../harness/testing.ts";
import { openStandalone } from "../support/shared_replica_set.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";

/** Models of other tests are on the default connection: only reasons with a name count here. */
async function reasonsWith(name: string): Promise<readonly string[]> {
  const start = performance.now();
  const { live, ready, reasons } = await Framework.health();
  assert(performance.now() - start < 20_000, "it took twenty seconds");
  assertEquals([live, ready], [true, reasons.length === 0]);
  return reasons.filter((reason) => reason.includes(name));
}

/**
 * Serves a model with a unique index on a connection of its own. `choose` may return another connection of its server for a
 * request.
 */
async function openOwn(
  dbName: string,
  choose: (connection: Connection, req: FrameworkRequest) => Connection = (own) => own,
  open: () => Promise<LentServer> = openStandalone,
) {
  const mongo = await open();
  const options = { dbName, maxPoolSize: 3 };
  const connection = await mongoose.createConnection(mongo.uri, options).asPromise();
  const getConnection = (req: FrameworkRequest) => choose(connection, req);
  @rest({ route: "/keys", methods: [all(), create()], getConnection })
  class HealthKey extends FrameworkModel {
    @prop({ unique: true })
    key!: string;
  }
  const app = await mount([HealthKey]);
  return {
    ...{ app, connection },
    fail: (mode: unknown, data?: object) =>
      connection.getClient().db("admin").command({
        configureFailPoint: "failCommand",
        mode,
        ...data && { data },
      }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await connection.close();
      await mongo.stop();
    },
  };
}

test("an application is not ready before its unique indexes are built", async () => {
  await using own = await openOwn("health_indexes");
  const keys = own.connection.collection("healthkeys");
  await keys.insertMany([{ key: "a" }, { key: "a" }]);
  await own.app.get("/keys");
  await until(async () => (await reasonsWith("HealthKey")).length === 1);
  assertEquals(await reasonsWith("HealthKey"), [
    'The unique indexes of "HealthKey" are not built',
  ]);
  await keys.deleteOne({ key: "a" });
  await until(async () => (await reasonsWith("HealthKey")).length === 0);
});

test("a connection that was lost is a reason, and one that was closed is none", async () => {
  const mongo = await startMongo({ args: ["--quiet"] });
  await using own = await openOwn("health_closed", (own) => own, () => Promise.resolve(mongo));
  await own.app.get("/keys");
  const { connection } = own;
  mongo.members[0]?.instanceInfo?.instance.mongodProcess?.kill("SIGKILL");
  await until(async () => (await reasonsWith("health_closed")).length === 1);
  await connection.close();
  assertEquals(await reasonsWith("health_closed"), []);
});

test("one ping asks the server of all connections that share a client", async () => {
  await using own = await openOwn(
    "health_shared",
    (connection, req) => connection.useDb(`health_${req.headers["x-tenant"]}`, { useCache: true }),
  );
  const { app, connection } = own;
  for (const tenant of ["a", "b", "c"]) {
    const { status } = await app.send("GET", "/keys", { headers: { "x-tenant": tenant } });
    assertEquals(status, 200);
  }
  const countPings = async () => {
    const { metrics } = await connection.getClient().db("admin").command({ serverStatus: 1 });
    return Number(metrics.commands.ping.total);
  };
  const before = await countPings();
  assertEquals(await reasonsWith("health_"), []);
  assertEquals(await countPings() - before, 1);
});

longTest(
  "a pool that slow writes fill is no reason while the database answers its monitor",
  async () => {
    await using own = await openOwn("health_busy");
    await own.app.get("/keys");
    await until(async () => (await reasonsWith("health_busy")).length === 0);
    const data = { failCommands: ["insert"], blockConnection: true, blockTimeMS: 2500 };
    await own.fail("alwaysOn", data);
    let open = 6;
    const writes = ["a", "b", "c", "d", "e", "f"].map(async (key) => {
      await own.app.post("/keys", { key });
      open--;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    assertEquals([await reasonsWith("health_busy"), open], [[], 6]);
    await own.fail("off");
    await Promise.all(writes);
  },
);

test("a database that refuses the ping is not said to be late", async () => {
  await using own = await openOwn("health_refused");
  await own.app.get("/keys");
  await until(async () => (await reasonsWith("health_refused")).length === 0);
  await own.fail("alwaysOn", { failCommands: ["ping"], errorCode: 13 });
  assertEquals(await reasonsWith("health_refused"), [
    'The connection to "health_refused" fails: Unauthorized',
  ]);
  await own.fail("off");
});

test("an application whose server is closing is not ready", async () => {
  @rest({ route: "/closed", methods: [all()] })
  class HealthClosed extends FrameworkModel {}
  await using app = await mount([HealthClosed]);
  const { default: express } = await import("express");
  const server = express().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const isQuiet = async () => (await reasonsWith("closing")).length === 0;
  await until(isQuiet);
  const closed = Framework.close(server);
  assertEquals(await reasonsWith("closing"), ["A server is closing"]);
  await closed;
  await until(isQuiet);
  assertEquals((await app.get("/closed")).status, 200);
});

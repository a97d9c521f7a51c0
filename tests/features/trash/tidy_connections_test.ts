import { assertEquals, assertRejects } from "@std/assert";
import mongoose, { type Connection } from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  replace,
  rest,
  StoredFile,
} from "../../../mod.ts";
import { connectionsFrom } from "../../../src/store/request_connection.ts";
import { Housekeeper } from "../../../src/host/housekeeper.ts";
import { routesOfOptions } from "../../../src/host/initialize.ts";
import { test } from "../../harness/testing.ts";
import { openReplicaSet, sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { failCommand } from "../many/many.ts";
import { inDays } from "./sheets.ts";

/** How a test opens the database of a tenant, if not by cached connections. */
let opened: ((name: string) => Connection) | undefined;

const byTenant = (name: string) =>
  opened?.(`tidy_${name}`) ?? mongoose.connection.useDb(`tidy_${name}`, { useCache: true });
const getConnection = (req: FrameworkRequest) => byTenant(String(req.get("tenant")));

@rest({
  route: "/ledgers",
  methods: [all(), one(), create(), remove()],
  trash: { keep: "30d" },
  getConnection,
})
class Ledger extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  scan?: StoredFile;
}

@rest({ route: "/receipts", methods: [all()], trash: { keep: "30d" }, getConnection })
class Receipt extends FrameworkModel {}

async function serve(): Promise<Mounted> {
  const app = await mount([Ledger, Receipt], { mongo: await sharedReplicaSet(), tidy: false });
  for (const name of ["a", "b", "c"]) await byTenant(name).dropDatabase();
  return app;
}

/** Stores an entity whose time in the trash is over. */
async function storeRemoved(connection: Connection): Promise<void> {
  const removed = { name: "gone", __v: 1, deletedAt: inDays(-31) };
  await getModel(Ledger, connection).collection.insertOne(removed as never);
}

const as = (tenant: string) => ({ headers: { tenant } });

const counts = () =>
  Promise.all(["a", "b", "c"].map((name) => byTenant(name).collection("ledgers").countDocuments()));

test("tidy() removes what has expired on the connections that requests have used", async () => {
  await using app = await serve();
  for (const tenant of ["a", "b"]) await app.get("/ledgers", as(tenant));
  for (const name of ["a", "b", "b", "c"]) await storeRemoved(byTenant(name));
  assertEquals(await Framework.tidy(), { removed: { Ledger: 3 } });
  assertEquals(await counts(), [0, 0, 1]);
  const other = await mongoose.createConnection(app.database.uri).asPromise();
  const connections = [other.useDb("tidy_c"), other.useDb("tidy_c")];
  assertEquals(await Framework.tidy({ connections }), { removed: { Ledger: 1 } });
  assertEquals(await counts(), [0, 0, 0]);
  await other.close();
  await assertRejects(() => Framework.tidy({ connections }), Error, '"tidy_c" is not open');
});

test("what expires on connections of getConnection is removed at intervals", async () => {
  await using app = await serve();
  await app.get("/ledgers", as("a"));
  const housekeeper = new Housekeeper({ everyMS: 40 });
  housekeeper.add(routesOfOptions({ models: [Ledger] }), { isScheduled: true });
  await storeRemoved(byTenant("a"));
  await until(async () => (await counts())[0] === 0);
  await housekeeper.stop();
});

test("tidy() removes files without an entity from connections of getConnection", async () => {
  await using app = await serve();
  const { _id } = await app.created("/ledgers", { name: "x" }, as("a"));
  const headers = { tenant: "a", "content-type": "text/plain" };
  const raw = new TextEncoder().encode("bytes");
  assertEquals((await app.send("PUT", `/ledgers/${_id}/scan`, { raw, headers })).status, 201);
  await byTenant("a").collection("ledgers").deleteMany({});
  const chunks = byTenant("a").collection("mongrove_files.chunks");
  assertEquals([await chunks.countDocuments(), await Framework.tidy()], [1, { removed: {} }]);
  await Framework.tidy({ at: inDays(2) });
  assertEquals(await chunks.countDocuments(), 0);
});

test("a database that fails does not keep tidy() from the others", async () => {
  await using app = await serve();
  await using _mongo = await openReplicaSet();
  for (const tenant of ["a", "b"]) await app.get("/ledgers", as(tenant));
  for (const name of ["a", "b"]) await storeRemoved(byTenant(name));
  await failCommand(mongoose.connection, ["findAndModify"], {
    mode: "alwaysOn",
    errorCode: 13,
    namespace: "tidy_a.mongrove_leases",
  });
  await assertRejects(() => Framework.tidy(), Error, 'Cannot tidy "tidy_a"');
  assertEquals(await counts(), [1, 0, 0]);
});

test("tidy() creates no collection of a class that nobody has used on a connection", async () => {
  await using app = await serve();
  await app.get("/ledgers", as("a"));
  await app.get("/receipts", as("b"));
  const own = () =>
    Promise.all(["a", "b", "c"].map(async (name) => {
      const stored = await byTenant(name).listCollections();
      return stored.map((each) => each.name).filter((each) => !each.startsWith("mongrove_")).sort();
    }));
  await until(async () => (await own()).flat().length === 2);
  await Framework.tidy({ connections: [byTenant("c")] });
  assertEquals(await own(), [["ledgers"], ["receipts"], []]);
  assertEquals(await byTenant("c").listCollections(), []);
  const stored = byTenant("a").collection("receipts");
  await stored.insertOne({ deletedAt: inDays(-31) });
  assertEquals(await Framework.tidy(), { removed: { Receipt: 1 } });
});

test("connections of useDb() to one database are remembered once", async () => {
  await using app = await serve();
  const before = connectionsFrom(getConnection).length;
  opened = (name) => mongoose.connection.useDb(name);
  for (let count = 0; count < 3; count++) await app.get("/ledgers", as("uncached"));
  opened = undefined;
  assertEquals(connectionsFrom(getConnection).length, before + 1);
});

test("a connection has one listener, however many hooks return it", async () => {
  const classes = ["a", "b", "c"].map((name) => {
    @rest({ route: `/${name}`, methods: [all()], getConnection: () => mongoose.connection })
    class Shared extends FrameworkModel {}
    Object.defineProperty(Shared, "name", { value: `Shared_${name}` });
    return Shared;
  });
  await using app = await mount(classes);
  for (const name of ["a", "b", "c"]) assertEquals((await app.get(`/${name}`)).text, "[]");
  assertEquals(mongoose.connection.listenerCount("close"), 1);
  await mongoose.connection.close();
  assertEquals(connectionsFrom().includes(mongoose.connection), false);
});

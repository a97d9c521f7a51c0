import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { all, Framework, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { Housekeeper } from "../../../src/host/housekeeper.ts";
import { routesOfOptions } from "../../../src/host/initialize.ts";
import { test } from "../../harness/testing.ts";
import { whenIndexed } from "../../support/until.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { Card, inDays, serveSheets, Sheet, Stone, storeRemoved } from "./sheets.ts";

const history = () => mongoose.connection.collection("sheets_history");

/** The housekeeper of another process of the application. */
function otherProcess(): Housekeeper {
  const housekeeper = new Housekeeper();
  housekeeper.add(routesOfOptions({ models: [Sheet, Card, Stone] }), { isScheduled: false });
  return housekeeper;
}

test("tidy() removes what has expired, with a record, and nothing else", async () => {
  await using app = await serveSheets();
  const removed: string[] = [];
  for (const path of ["/sheets", "/cards", "/stones"]) {
    const gone = await app.created(path, { name: "gone" });
    await app.created(path, { name: "living" });
    await app.delete(`${path}/${gone._id}`);
    removed.push(gone._id);
  }
  assertEquals(await Framework.tidy(), { removed: {} });
  assertEquals(await Framework.tidy({ at: inDays(2) }), { removed: { Card: 1 } });
  assertEquals(await Framework.tidy({ at: inDays(29) }), { removed: {} });
  assertEquals(await Framework.tidy({ at: inDays(31) }), { removed: { Sheet: 1 } });
  const counts = [Sheet, Card, Stone].map((each) =>
    getModel(each as typeof Sheet).countDocuments()
  );
  assertEquals(await Promise.all(counts), [1, 1, 2]);
  const records = await history().find({ entity: new mongoose.Types.ObjectId(removed[0]) })
    .sort({ version: 1 }).toArray();
  assertEquals(records.map(({ version, operation, actor }) => [version, operation, actor]), [
    [0, "create", "ann"],
    [1, "remove", "ann"],
    [2, "tidy", undefined],
  ]);
  assertEquals(records[2]?.before.name, "gone");
});

test("a restored entity does not expire", async () => {
  await using app = await serveSheets();
  const { _id } = await app.created("/sheets", { name: "a" });
  await app.delete(`/sheets/${_id}`);
  assertEquals((await app.post(`/sheets/${_id}/restore`)).status, 200);
  assertEquals(await Framework.tidy({ at: inDays(100) }), { removed: {} });
  assertEquals((await app.get(`/sheets/${_id}`)).status, 200);
});

interface Removal {
  readonly q: {
    readonly $and?: readonly { readonly _id?: { readonly $in: readonly unknown[] } }[];
  };
}

test("tidy() removes in portions of at most 100", async () => {
  await using app = await serveSheets();
  await storeRemoved(230, 31);
  await storeRemoved(10, 29);
  const sent = await watchCommands(app.database.uri);
  assertEquals(await Framework.tidy(), { removed: { Sheet: 230 } });
  const removals = sent.filter(({ command }) => command.delete === "sheets")
    .map(({ command }) => (command.deletes as Removal[])[0]?.q.$and ?? []);
  const portions = removals.map((all) => all.flatMap(({ _id }) => _id?.$in ?? []).length);
  assertEquals(portions, [100, 100, 30]);
  assertEquals(await getModel(Sheet).countDocuments(), 10);
  assertEquals(await history().countDocuments({ operation: "tidy" }), 230);
});

test("processes that tidy at once remove each entity once", async () => {
  await using _app = await serveSheets();
  await storeRemoved(150, 31);
  const all = [otherProcess(), otherProcess()].map((each) => each.tidy());
  const results = await Promise.all([...all, Framework.tidy()]);
  const counts = results.map(({ removed }) => removed.Sheet ?? 0);
  assertEquals(counts.toSorted((a, b) => a - b), [0, 0, 150]);
  assertEquals(await history().countDocuments(), 150);
});

test("tidy() waits while another process has the lease", async () => {
  await using _app = await serveSheets();
  await storeRemoved(1, 31);
  const leases = mongoose.connection.collection<{ _id: string }>("mongrove_leases");
  const claim = { holder: new mongoose.Types.ObjectId(), until: new Date(Date.now() + 1000) };
  await leases.insertOne({ _id: "tidy", ...claim });
  const began = performance.now();
  assertEquals(await Framework.tidy(), { removed: { Sheet: 1 } });
  assertEquals(performance.now() - began > 700, true);
});

test("an entity that cannot be removed stays, and other classes are tidied", async () => {
  await using app = await serveSheets();
  await storeRemoved(1, 31);
  const { _id } = await app.created("/cards", { name: "a" });
  await app.delete(`/cards/${_id}`);
  await history().insertOne({ entity: 0 });
  await whenIndexed(() =>
    mongoose.connection.db?.command({ collMod: "sheets_history", validator: { no: 1 } })
  );
  const { cause, message } = await assertRejects(() => Framework.tidy({ at: inDays(1) }), Error);
  assertEquals([message, Object(cause).code], ['Cannot tidy "Sheet"', 121]);
  assertEquals(await getModel(Sheet).countDocuments(), 1);
  assertEquals(await getModel(Card).countDocuments(), 0);
});

test("an entity with a record above the size of a document stays, and the others are removed", async () => {
  await using app = await serveSheets();
  await storeRemoved(101, 31);
  const name = "x".repeat(16 * 1024 * 1024 - 8 * 1024);
  await getModel(Sheet).collection.insertOne({ name, __v: 1, deletedAt: inDays(-32) } as never);
  await app.created("/sheets", { name: "living" });
  using log = stub(console, "warn");
  assertEquals(await Framework.tidy(), { removed: { Sheet: 101 } });
  assertEquals(await getModel(Sheet).countDocuments({ deletedAt: { $ne: null } }), 1);
  assertEquals(await history().countDocuments({ operation: "tidy" }), 101);
  assertEquals(log.calls.length, 1);
  assertMatch(
    String(log.calls[0]?.args[0]),
    /Cannot remove 1 expired entities of "Sheet".*too large/,
  );
  assertEquals(await Framework.tidy(), { removed: {} });
});

test("a class on another connection is left out", async () => {
  await using app = await serveSheets();
  @rest({
    route: "/others",
    methods: [all()],
    trash: { keep: "1d" },
    getConnection: () => mongoose.connection,
  })
  class Other extends FrameworkModel {
    @prop()
    name?: string;
  }
  await getModel(Other).collection.insertOne({ deletedAt: new Date(0) } as never);
  const housekeeper = new Housekeeper();
  housekeeper.add(routesOfOptions({ models: [Other] }), { isScheduled: false });
  assertEquals(await housekeeper.tidy(), { removed: {} });
  assertEquals(await getModel(Other).collection.countDocuments(), 1);
  assertEquals((await app.get("/cards")).status, 200);
});

test("tidy() refuses wrong options, and a connection that is not open", async () => {
  const wrong = [{ at: new Date("x") }, { at: 1 as never }, { when: new Date() } as never];
  for (const options of wrong) await assertRejects(() => Framework.tidy(options), TypeError);
  assertThrows(() => Framework.initialize({ models: [Card], tidy: "no" as never }), TypeError);
  await assertRejects(() => otherProcess().tidy(), Error, "the default connection is not open");
});

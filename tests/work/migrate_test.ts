import { assert, assertEquals, assertRejects } from "@std/assert";
import mongoose from "mongoose";
import { createServer } from "node:http";
import { Framework } from "../../mod.ts";
import { migrate, type Migration } from "../../src/work/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { openStandalone } from "../support/shared_replica_set.ts";
import { until } from "../support/until.ts";
import { endLease, gate, noting, openParcels, Parcel, runOne } from "./worked.ts";

const RECORDS = "mongrove_migrations";

test("migrate() runs each migration once, in order, and records it", async () => {
  await using database = await openParcels();
  const notes: string[] = [];
  const list = ["first", "second"].map((name) => noting(name, notes));
  assertEquals(await migrate.check(list), ["first", "second"]);
  assertEquals(await database.migrations.countDocuments(), 0);
  assertEquals(await migrate(list), ["first", "second"]);
  assertEquals(await migrate(list), []);
  assertEquals(await migrate.check([...list, noting("third", notes)]), ["third"]);
  assertEquals(await migrate([...list, noting("third", notes)]), ["third"]);
  assertEquals(notes, ["first", "second", "third"]);
  const records = await database.migrations.find().sort({ order: 1 }).toArray();
  assertEquals(records.map(({ _id, number, outcome }) => [_id, number, outcome]), [
    ["first", 1, "done"],
    ["second", 1, "done"],
    ["third", 1, "done"],
  ]);
  for (const { tookMS, startedAt, process } of records) {
    assert(Number(tookMS) >= 0 && startedAt instanceof Date, String(tookMS));
    assert(process?.endsWith(`${Deno.pid}`), process);
  }
});

test("migrate() works on a standalone server", async () => {
  await using server = await openStandalone();
  await using _ = await openDatabase(server.uri);
  await mongoose.connection.collection("parcels").insertOne({ title: "a" });
  const run: Migration["run"] = ({ each }) => each(Parcel, {}, () => ({ label: "a" }));
  assertEquals(await migrate([{ name: "label", run }]), ["label"]);
  assertEquals(await mongoose.connection.collection("parcels").countDocuments({ label: "a" }), 1);
});

test("two processes that start at once run each migration once", async () => {
  await using _ = await openParcels();
  const notes: string[] = [];
  const list = ["a", "b", "c"].map((name) => noting(name, notes));
  const ran = await Promise.all([migrate(list), migrate(list), migrate(list)]);
  assertEquals(notes, ["a", "b", "c"]);
  assertEquals(ran.flat().sort(), ["a", "b", "c"]);
});

test("a missing name and another order fail, and an older release goes on beside a newer one", async () => {
  await using _ = await openParcels();
  const notes: string[] = [];
  const listOf = (...names: string[]) => names.map((name) => noting(name, notes));
  await migrate(listOf("a", "b"));
  const wrong: [Migration[], string][] = [
    [listOf("b"), '"a" has run, and is missing in the list'],
    [listOf("a", "c"), '"b" has run, and is missing in the list'],
    [listOf("b", "a"), '"a" has run, and the list has "b" before it'],
    [listOf("a", "new", "b"), '"b" has run, and the list has "new" before it'],
  ];
  for (const [list, message] of wrong) {
    await assertRejects(() => migrate(list), Error, message);
    await assertRejects(() => migrate.check(list), Error, message);
  }
  assertEquals([await migrate(listOf("a")), await migrate([])], [[], []]);
  assertEquals(notes, ["a", "b"]);
});

test("a wrong list and wrong options are refused", async () => {
  await using _ = await openParcels(0);
  const run = () => {};
  const one = { name: "a", run };
  const wrong: [unknown, unknown, string][] = [
    [{}, {}, "the migrations are not a list"],
    [[run], {}, "migration 0 is not an object"],
    [[one, { run }], {}, "migration 1 has no name"],
    [[{ name: "", run }], {}, "migration 0 has no name"],
    [[{ name: "a" }], {}, '"run" of "a" is not a function'],
    [[{ ...one, up: run }], {}, '"a" has no option "up"'],
    [[one, one], {}, 'two migrations have the name "a"'],
    [[one], { waits: 1 }, 'there is no option "waits"'],
    [[one], { wait: "no" }, '"wait" is not a boolean'],
    [[one], { connection: {} }, "it is not a Mongoose connection"],
  ];
  for (const [list, options, message] of wrong) {
    await assertRejects(() => migrate(list as never, options as never), TypeError, message);
    await assertRejects(() => migrate.check(list as never, options as never), TypeError, message);
  }
  for (const waitMS of [0, -1, 1.5, NaN, Infinity, "1", 2 ** 31]) {
    await assertRejects(() => migrate([one], { waitMS } as never), RangeError, "waitMS");
  }
});

test("a failed migration fails the start, is recorded, and runs again at the next start", async () => {
  await using database = await openParcels();
  const notes: string[] = [];
  let fails = true;
  const failing: Migration = {
    name: "fails",
    run() {
      if (fails) throw new Error("wrong data");
      notes.push("fails");
    },
  };
  const list = [noting("a", notes), failing, noting("z", notes)];
  await assertRejects(() => migrate(list), Error, '"fails" failed: Error: wrong data');
  const { outcome, error } = await database.migrations.findOne({ _id: "fails" }) ?? {};
  assertEquals([notes, outcome, error], [["a"], "failed", "Error: wrong data"]);
  fails = false;
  assertEquals(await migrate(list), ["fails", "z"]);
  const { error: none, number } = await database.migrations.findOne({ _id: "fails" }) ?? {};
  assertEquals([notes, none, number], [["a", "fails", "z"], undefined, 2]);
});

test("a process that waits is not ready, and fails with the migration without running it", async () => {
  await using _ = await openParcels();
  const [begun, going] = [gate(), gate()];
  let runs = 0;
  const run = async () => {
    runs++;
    begun.open();
    await going.opened;
    throw new Error("wrong data");
  };
  const first = migrate([{ name: "slow", run }]);
  const firstEnd = assertRejects(() => first, Error, "wrong data");
  await begun.opened;
  const second = migrate([{ name: "slow", run }]);
  const secondEnd = assertRejects(() => second, Error, '"slow" failed in ');
  const { ready, reasons } = await Framework.health();
  const reason = `The migrations of "${mongoose.connection.name}" have not ended`;
  assertEquals([ready, reasons], [false, [reason, reason]]);
  assertEquals(await migrate([{ name: "slow", run }], { wait: false }), []);
  const late = () => migrate([{ name: "slow", run }], { waitMS: 1 });
  await assertRejects(late, Error, '"slow" still runs in process');
  going.open();
  await Promise.all([firstEnd, secondEnd]);
  assertEquals([runs, (await Framework.health()).ready], [1, true]);
});

test("migrate() waits for the connection", async () => {
  await using database = await openParcels();
  const connection = mongoose.createConnection();
  const list = [noting("a", [])];
  await assertRejects(() => migrate(list, { connection, waitMS: 1 }), Error, "is not open");
  const migrating = migrate(list, { connection });
  await connection.openUri(database.uri);
  assertEquals(await migrating, ["a"]);
  await connection.close();
});

test("a holder whose lease has ended marks no success", async () => {
  await using database = await openParcels();
  const [begun, going] = [gate(), gate()];
  let lost: AbortSignal | undefined;
  const old = runOne(async ({ signal }) => {
    lost = signal;
    begun.open();
    await going.opened;
  }, { leaseMS: 60_000 });
  await begun.opened;
  await endLease(database.connection, RECORDS, "one");
  const [taken, ending] = [gate(), gate()];
  const next = runOne(async () => {
    taken.open();
    await ending.opened;
  }, { leaseMS: 60_000 });
  await taken.opened;
  going.open();
  const { number } = await database.migrations.findOne({ _id: "one" }) ?? {};
  assertEquals(number, 2);
  await until(() => lost?.aborted === true);
  const { outcome } = await database.migrations.findOne({ _id: "one" }) ?? {};
  assertEquals(outcome, "running");
  ending.open();
  assertEquals(await Promise.all([old, next]), [[], ["one"]]);
  const record = await database.migrations.findOne({ _id: "one" });
  assertEquals([record?.outcome, record?.number], ["done", 2]);
});

test("a process with a shorter lease leaves a longer one to its holder", async () => {
  await using _ = await openParcels();
  const [begun, going] = [gate(), gate()];
  const old = runOne(async () => {
    begun.open();
    await going.opened;
  }, { leaseMS: 60_000 });
  await begun.opened;
  assertEquals(await runOne(() => {}, { leaseMS: 1000, wait: false }), []);
  going.open();
  assertEquals(await old, ["one"]);
});

test("the lease is renewed while a migration runs", async () => {
  await using database = await openParcels();
  const ran = runOne(async ({ signal }) => {
    const read = async () => (await database.migrations.findOne({ _id: "one" }))?.until.getTime();
    const first = Number(await read());
    await until(async () => Number(await read()) > first + 3000);
    assert(!signal.aborted);
  }, { leaseMS: 1500 });
  assertEquals(await ran, ["one"]);
  assertEquals((await database.migrations.findOne({ _id: "one" }))?.number, 1);
});

test("Framework.close() ends a migration, which goes on at the next start", async () => {
  await using database = await openParcels(250);
  const [begun, going] = [gate(), gate()];
  const seen: string[] = [];
  const run: Migration["run"] = ({ each }) =>
    each(Parcel, {}, async ({ title }) => {
      seen.push(String(title));
      if (seen.length === 150) begun.open();
      if (seen.length > 149) await going.opened;
      return { label: title };
    });
  const migrating = migrate([{ name: "labels", run }]);
  const end = assertRejects(() => migrating, Error, "Cannot migrate: the process closes");
  await begun.opened;
  const server = createServer().listen(0, "127.0.0.1");
  const closing = Framework.close(server);
  going.open();
  await Promise.all([end, closing]);
  const { outcome, progress } = await database.migrations.findOne({ _id: "labels" }) ?? {};
  assertEquals([outcome, Object.keys(progress ?? {})], ["interrupted", ["0"]]);
  const before = seen.length;
  assertEquals(await migrate([{ name: "labels", run }]), ["labels"]);
  assertEquals([seen.length - before, seen.at(-1)], [150, "t249"]);
  assertEquals(await database.collection.countDocuments({ label: { $exists: true } }), 250);
});

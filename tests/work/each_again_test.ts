import { assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { migrate, type MigrationContext } from "../../src/work/mod.ts";
import { test } from "../harness/testing.ts";
import { endLease, gate, openParcels, Parcel, runOne } from "./worked.ts";

const LEASE_MS = 1500;

test("an interrupted migration whose next attempt makes other calls of each() skips nothing", async () => {
  await using database = await openParcels(250);
  const { connection, collection } = database;
  const [begun, going] = [gate(), gate()];
  const run = async ({ each }: MigrationContext) => {
    const unlabelled = { label: { $exists: false } };
    // As a repeatable migration does: the second attempt finds no such entity.
    if (await collection.countDocuments(unlabelled) > 0) {
      await each(Parcel, unlabelled, () => ({ label: "x" }));
    }
    await each(Parcel, {}, async ({ title }) => {
      if (title === "t0") {
        begun.open();
        await going.opened;
      }
      return { weight: 1 };
    });
  };
  const old = runOne(run);
  await begun.opened;
  await endLease(connection, "mongrove_migrations", "one");
  const next = runOne(run);
  going.open();
  assertEquals((await Promise.all([old, next])).flat(), ["one"]);
  assertEquals(await collection.countDocuments({ label: "x", weight: 1 }), 250);
});

test("a migration that waits for none of several calls of each() succeeds with all of them", async () => {
  await using database = await openParcels(3);
  const run = ({ each }: MigrationContext) => {
    each(Parcel, {}, () => ({ label: "x" }))
      .then(() => each(Parcel, {}, () => ({ weight: 1 })))
      .catch(() => {});
  };
  assertEquals(await runOne(run), ["one"]);
  assertEquals(await database.collection.countDocuments({ label: "x", weight: 1 }), 3);
});

test("each() binds entities with numeric keys, and large ones, to writes of other programs", async () => {
  await using database = await openParcels(0);
  const { collection } = database;
  const large = "x".repeat(7 * 1024 * 1024);
  const byYear = { 2020: 1, b: 2, 1999: 3 };
  const odd = [{ byYear }, { large }, { text: "\ufffd" }, { byYear, "a.b": 1, $c: 1, "": 1 }];
  for (const each of odd) await collection.insertOne({ weight: 0, __v: 0, ...each });
  const given: unknown[] = [];
  await migrate([{
    name: "weights",
    run: ({ each }) =>
      each(Parcel, {}, async ({ _id, weight }) => {
        given.push(weight);
        if (weight === 0) await collection.updateOne({ _id } as object, { $inc: { weight: 1 } });
        return { weight: Number(weight) + 10 };
      }),
  }]);
  const all = await collection.find().project({ weight: 1 }).toArray();
  assertEquals(all.map(({ weight }) => weight), [11, 11, 11, 11]);
});

test("each() refuses values in objects and lists that BSON would change", async () => {
  await using database = await openParcels(1);
  const wrong: [unknown, string][] = [
    [{ a: [NaN] }, 'the new "label.a.0" is NaN'],
    [{ a: () => 1 }, 'the new "label.a" is a function'],
    [[Promise.resolve()], 'the new "label.0" is a promise'],
    [{ a: { b: [undefined] } }, 'the new "label.a.b.0" is undefined'],
    [new Set(["a"]), 'the new "label" is a Set, which BSON does not have'],
    [{ a: new URL("x:y") }, 'the new "label.a" is a URL'],
  ];
  for (const [label, message] of wrong) {
    const run = () => runOne(({ each }) => each(Parcel, {}, () => ({ label })));
    await assertRejects(run, Error, message);
  }
  assertEquals(await database.collection.countDocuments({ label: { $exists: true } }), 0);
  class Spot {
    city = "Rome";
  }
  const label = { map: new Map([["a", 1]]), spot: new Spot(), none: undefined, list: [null] };
  await runOne(({ each }) => each(Parcel, {}, () => ({ label })));
  const stored = await database.collection.findOne();
  assertEquals(stored?.label, { map: { a: 1 }, spot: { city: "Rome" }, list: [null] });
});

test("each() refuses a change that changes its argument alone", async () => {
  await using database = await openParcels(1);
  const stored = { at: new Date(0), list: [1, 2.5, null], inner: { none: null } };
  await database.collection.updateOne({}, { $set: stored });
  const mutations: ((values: Record<string, unknown>) => void)[] = [
    (values) => void (values.label = "x"),
    (values) => void delete values.title,
    ({ list }) => void (list as unknown[]).push(3),
  ];
  for (const change of mutations) {
    const run = () => runOne(({ each }) => each(Parcel, {}, change));
    await assertRejects(run, Error, "the change has changed its argument, and returned none");
  }
  await runOne(({ each }) => each(Parcel, {}, ({ list }) => void (list as unknown[]).slice(1)));
});

test("each() tells why it waits for the database", async () => {
  await using database = await openParcels(1);
  let failures = 2;
  const { collection } = database;
  const find = collection.find.bind(collection);
  using warn = stub(console, "warn");
  using _find = stub(collection, "find", (...given) => {
    if (failures-- > 0) throw new mongoose.mongo.MongoNetworkError("no route");
    return find(...given);
  });
  await runOne(({ each }) => each(Parcel, {}, () => ({ label: "x" })));
  assertEquals(warn.calls.map(({ args }) => args), [[
    'Migration "one" waits for the database: MongoNetworkError: no route',
  ]]);
});

test("each() writes nothing after its lease has ended while the process was busy", async () => {
  await using _ = await openParcels(1);
  const seen: unknown[] = [];
  const run = ({ each }: MigrationContext) =>
    each(Parcel, {}, ({ weight }) => {
      seen.push(weight);
      const since = performance.now();
      // No timer runs meanwhile, so the lease does not know of its end.
      while (seen.length === 1 && performance.now() - since < LEASE_MS);
      return { weight: 1 };
    });
  assertEquals(await runOne(run, { leaseMS: LEASE_MS }), ["one"]);
  assertEquals(seen, [undefined, undefined]);
});

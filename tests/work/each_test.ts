import { assert, assertEquals, assertRejects } from "@std/assert";
import mongoose from "mongoose";
import { migrate } from "../../src/work/mod.ts";
import type { Each, Migration, MigrationContext } from "../../src/work/mod.ts";
import { test } from "../harness/testing.ts";
import { endLease, gate, openParcels, Parcel, runOne } from "./worked.ts";

const { Decimal128, Long } = mongoose.mongo;

/** Runs `work` as a migration, the only one of the database. */
async function withEach(work: (each: Each) => unknown): Promise<void> {
  await runOne(({ each }) => work(each));
  await mongoose.connection.collection("mongrove_migrations").deleteMany({});
}

test("each() renames a field, and raises the version and updatedAt", async () => {
  await using database = await openParcels(250);
  const { collection } = database;
  await collection.updateOne({ title: "t0" }, { $set: { __v: 4 } });
  await collection.updateOne({ title: "t1" }, { $set: { __v: null } });
  await collection.updateOne({ title: "t2" }, { $unset: { __v: 1 } });
  await withEach(async (each) => {
    const result = await each(
      Parcel,
      { title: { $exists: true } },
      ({ title }) => ({ label: title, title: undefined }),
    );
    assertEquals(result, { seen: 250, changed: 250 });
  });
  const all = await collection.find().sort({ _id: 1 }).toArray();
  assertEquals(all.map(({ label }) => label), all.map((_, index) => `t${index}`));
  assertEquals(all.slice(0, 4).map(({ __v }) => __v), [5, 1, 1, 1]);
  assert(all.every((each) => !("title" in each) && each.updatedAt instanceof Date));
});

test("each() writes nothing for equal values, undefined and null", async () => {
  await using database = await openParcels(3);
  const answers = [undefined, null, { title: "t2", label: undefined }];
  await withEach(async (each) => {
    const result = await each(Parcel, {}, ({ title }) => answers[Number(String(title)[1])]);
    assertEquals(result, { seen: 3, changed: 0 });
  });
  const all = await database.collection.find().toArray();
  assertEquals(all.map((each) => [each.__v, "updatedAt" in each]), Array(3).fill([0, false]));
});

test("each() reaches identifiers of all types, by portions, and keeps types of BSON", async () => {
  await using database = await openParcels(150);
  const { collection } = database;
  const others = Array.from({ length: 150 }, (_, index) => [
    { _id: index },
    { _id: `s${index}` },
    { _id: { a: index } },
  ]).flat();
  await collection.insertMany(others as never[]);
  const stored = { long: Long.fromString("9007199254740993"), decimal: new Decimal128("1.10") };
  await collection.updateMany({}, { $set: stored });
  await withEach(async (each) => {
    const result = await each(Parcel, {}, ({ long, decimal }) => {
      assertEquals([typeof long, String(decimal)], ["object", "1.10"]);
      return { "inner.label": "x" };
    });
    assertEquals(result, { seen: 600, changed: 600 });
  });
  assertEquals(await collection.countDocuments({ ...stored, "inner.label": "x", __v: 1 }), 600);
});

test("each() gives the new values, if another write has come between", async () => {
  await using database = await openParcels(2);
  const { collection } = database;
  const given: unknown[] = [];
  await withEach((each) =>
    each(Parcel, { title: "t0" }, async ({ _id, weight = 0 }) => {
      given.push(weight);
      if (given.length < 3) await collection.updateOne({ _id } as object, { $inc: { weight: 1 } });
      return { weight: Number(weight) + 10 };
    })
  );
  assertEquals(given, [0, 1, 2]);
  assertEquals((await collection.findOne({ title: "t0" }))?.weight, 12);
  await withEach((each) =>
    each(Parcel, { title: "t1" }, async ({ _id }) => {
      await collection.deleteOne({ _id } as object);
      return { weight: 1 };
    })
  );
  assertEquals(await collection.countDocuments(), 1);
});

test("each() gives up on an entity that is changed all the time", async () => {
  await using database = await openParcels(1);
  const busy = withEach((each) =>
    each(Parcel, {}, async ({ _id }) => {
      await database.collection.updateOne({ _id } as object, { $inc: { weight: 1 } });
      return { label: "x" };
    })
  );
  await assertRejects(() => busy, Error, "other writes change it all the time");
});

test("each() binds large entities, and entities with numeric keys, too", async () => {
  await using database = await openParcels(0);
  const { collection } = database;
  await collection.insertOne({ title: "x".repeat(15_000_000), __v: 3 });
  await collection.insertOne({ title: "keys", byYear: { 2020: 1, b: 2, 1999: 3 } });
  await withEach(async (each) => {
    const result = await each(Parcel, {}, ({ title }) => ({ label: String(title).slice(0, 4) }));
    assertEquals(result, { seen: 2, changed: 2 });
  });
  const labels = await collection.find().project({ label: 1 }).toArray();
  assertEquals(labels.map(({ label }) => label), ["xxxx", "keys"]);
  const loose = mongoose.model("LooseKeys", new mongoose.Schema({}, { versionKey: false }));
  await loose.collection.insertOne({ byYear: { 2020: 1, b: 2, 1999: 3 } });
  await withEach((each) => each(loose, {}, () => ({ label: "x" })));
  assertEquals(await loose.collection.countDocuments({ label: "x", __v: { $exists: false } }), 1);
});

test("after a lost lease, each() goes on from the last portion", async () => {
  await using database = await openParcels(250);
  const { connection, collection } = database;
  const [begun, going] = [gate(), gate()];
  const seen: string[] = [];
  const run = ({ each }: MigrationContext) =>
    each(Parcel, {}, async ({ title, label }) => {
      seen.push(String(title));
      if (seen.length === 120) {
        begun.open();
        await going.opened;
      }
      return label === undefined ? { label: title, weight: 1 } : undefined;
    });
  const old = runOne(run);
  await begun.opened;
  await endLease(connection, "mongrove_migrations", "one");
  const next = runOne(run);
  assertEquals(await next, ["one"]);
  assertEquals([seen.length, seen[120], seen.at(-1)], [120 + 150, "t100", "t249"]);
  going.open();
  assertEquals(await old, []);
  assertEquals(await collection.countDocuments({ label: { $exists: true }, __v: 1 }), 250);
});

test("after an error of its code, each() begins anew", async () => {
  await using _ = await openParcels(250);
  const seen: string[] = [];
  let fails = true;
  const list = [{
    name: "labels",
    run: ({ each }: MigrationContext) =>
      each(Parcel, {}, ({ title }) => {
        seen.push(String(title));
        if (fails && title === "t149") throw new Error("wrong data");
        return { label: title };
      }),
  }];
  await assertRejects(() => migrate(list), Error, "wrong data");
  assertEquals(seen.length, 150);
  fails = false;
  assertEquals(await migrate(list), ["labels"]);
  assertEquals(seen.length, 150 + 250);
});

test("a migration that does not wait for each() succeeds or fails with it", async () => {
  await using database = await openParcels(250);
  const label: Migration = {
    name: "labels",
    run({ each }) {
      each(Parcel, {}, ({ title }) => ({ label: title }));
    },
  };
  assertEquals(await migrate([label]), ["labels"]);
  assertEquals(await database.collection.countDocuments({ label: { $exists: true } }), 250);
  let seen = 0;
  const failing: Migration = {
    name: "fails",
    run({ each }) {
      each(Parcel, {}, () => void seen++);
      each(Parcel, { title: "t0" }, () => {
        throw new Error("wrong data");
      });
    },
  };
  await assertRejects(() => migrate([label, failing]), Error, "wrong data");
  const seenAtEnd = seen;
  assertEquals(await database.migrations.countDocuments({ outcome: "failed" }), 1);
  assertEquals(seen, seenAtEnd);
});

test("each() refuses wrong arguments and answers", async () => {
  await using _ = await openParcels(1);
  const other = mongoose.createConnection().model("OtherParcel", new mongoose.Schema({}));
  const none = () => undefined;
  const wrong: [unknown[], string][] = [
    [[class {}, {}, none], "the first argument is no class and no model"],
    [[undefined, {}, none], "the first argument is no class and no model"],
    [[other, {}, none], 'Cannot change each "OtherParcel": its database is not'],
    [[Parcel, none, none], "the filter is not an object"],
    [[Parcel, {}, {}], "the change is not a function"],
    [[Parcel, {}, none, { record: true }], 'there is no option "record"'],
    [[Parcel, {}, none, { history: 1 }], '"history" is not a boolean'],
    [[Parcel, {}, none, { history: true }], 'it is no class whose @rest has "history"'],
    [[Parcel, {}, () => 1], "the change returned no object of fields"],
    [[Parcel, {}, () => ({ $set: {} })], 'the change returned "$set"'],
    [[Parcel, {}, () => ({ _id: 1 })], 'the change returned "_id"'],
    [[Parcel, {}, () => ({ __v: 1 })], 'the change returned "__v"'],
    [[Parcel, {}, () => ({ label: NaN })], 'the new "label" is NaN'],
    [[Parcel, {}, () => ({ label: Promise.resolve() })], 'the new "label" is a promise'],
  ];
  for (const [given, message] of wrong) {
    const run = () => withEach((each) => (each as (...given: unknown[]) => unknown)(...given));
    await assertRejects(run, Error, message);
  }
});

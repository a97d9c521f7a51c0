import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { all, getModel, rest } from "../mod.ts";
import { watchCommands } from "./both_paths.ts";
import {
  COUNT,
  Indexed,
  LISTED,
  MANY,
  openIndexed,
  Part,
  type Sent,
  sorted,
} from "./fixtures/indexed.ts";
import type { IndexedApp } from "./fixtures/indexed.ts";
import { test } from "./harness/testing.ts";
import { asQuery, type EntityBody, mount } from "./support.ts";

/** Reads a page behind an entity, and checks it; gives what was sent for it. */
async function pageAfter(
  app: IndexedApp,
  { at, sort, place, headers = {}, filter = {} }: {
    readonly at: string;
    readonly sort: Record<string, 1 | -1>;
    readonly place: number;
    readonly headers?: Record<string, string>;
    readonly filter?: object;
  },
): Promise<Sent[]> {
  const expected = await sorted(app, sort, filter);
  const keys = Object.entries(sort).map(([key, direction]) => direction === 1 ? key : `-${key}`);
  const path = `${at}${at.includes("?") ? "&" : "?"}sort=${keys}&after=${expected[place]}`;
  const { ids, finds } = await app.read(path, headers);
  assertEquals(ids, expected.slice(place + 1, place + 21), path);
  return finds;
}

/** How many keys of an index the database looks at for a find, and whether it sorts. */
async function explain({ find, filter, sort, limit, hint, min, max }: Sent) {
  const command = { find, filter, sort, limit: limit ?? 21, hint, min, max };
  const { executionStats, queryPlanner } = await mongoose.connection.db?.command({
    explain: Object.fromEntries(Object.entries(command).filter(([, value]) => value !== undefined)),
    verbosity: "executionStats",
  }) ?? {};
  const isOrdered = !/"(SORT\w*|COLLSCAN)"/.test(JSON.stringify(queryPlanner.winningPlan));
  return { keys: executionStats.totalKeysExamined as number, isOrdered };
}

function usedOf({ hint, min, max }: Sent = {}) {
  return { hint, min: min && Object.keys(min), max: max && Object.keys(max) };
}

const PLACES = [0, 100, 400, COUNT - 21, COUNT - 2];
const NOT = { hint: undefined, min: undefined, max: undefined };

/** Orders, and how the database is told where their pages begin. */
const BOUNDED = [
  [{ rank: 1, _id: 1 }, { hint: "rank_1__id_1", min: ["rank", "_id"], max: undefined }],
  [{ rank: -1, _id: -1 }, { hint: "rank_1__id_1", min: undefined, max: ["rank", "_id"] }],
  [{ name: -1, _id: 1 }, { hint: "by_name", min: ["name", "_id"], max: undefined }],
  [{ name: 1, _id: -1 }, { hint: "by_name", min: undefined, max: ["name", "_id"] }],
] as const;

test("a page behind an entity is read from its place in an index", async () => {
  await using app = await openIndexed(Indexed);
  for (const at of ["/plain", "/hooked", "/lean"]) {
    for (const [sort, used] of BOUNDED) {
      for (const place of PLACES) {
        const [find = {}, ...others] = await pageAfter(app, { at, sort, place });
        assertEquals([at, usedOf(find), others.length], [at, used, 0]);
        const { keys, isOrdered } = await explain(find);
        assert(keys <= 30 && isOrdered, `${keys} keys of ${used.hint}, sorted: ${!isOrdered}`);
      }
    }
  }
});

test("a page of a scope is read from its part of an index, and no further", async () => {
  await using app = await openIndexed(Indexed);
  const [headers, filter] = [{ "x-tenant": "a" }, { tenant: "a" }];
  const keys = ["tenant", "rank", "_id"];
  const used = { hint: "tenant_1_rank_1__id_1", min: keys, max: keys };
  for (const at of ["/plain", "/hooked", "/lean"]) {
    for (const sort of [{ rank: 1, _id: 1 }, { rank: -1, _id: -1 }] as const) {
      for (const place of [0, 200, COUNT / 2 - 2]) {
        const [find] = await pageAfter(app, { at, sort, place, headers, filter });
        assertEquals([at, usedOf(find)], [at, used]);
        const { keys, isOrdered } = await explain(find ?? {});
        assert(keys <= 30 && isOrdered, `${keys} keys, sorted: ${!isOrdered}`);
      }
    }
  }
  const at = `/plain${asQuery({ tenant: "b" })}`;
  const [find] = await pageAfter(app, {
    ...{ at, sort: { rank: 1, _id: 1 }, place: 5 },
    filter: { tenant: "b" },
  });
  assertEquals(usedOf(find), used);
});

test("a page has no bounds of an index where its list has other conditions or another order", async () => {
  await using app = await openIndexed(Indexed);
  const sort = { rank: 1, _id: 1 } as const;
  for (const filter of [{ color: "red" }, { tenant: "a", color: "red" }, { rank: { $gte: 5 } }]) {
    const at = `/plain${asQuery(filter)}`;
    assertEquals(usedOf((await pageAfter(app, { at, sort, place: 9, filter }))[0]), NOT);
  }
  for (const filter of [{ tenant: { $in: ["a", "b"] } }, { tenant: { $ne: "c" } }]) {
    const at = `/plain${asQuery(filter)}`;
    assertEquals(usedOf((await pageAfter(app, { at, sort, place: 9, filter }))[0]), NOT);
  }
  for (const other of [{ rank: -1, _id: 1 }, { name: 1, _id: 1 }, { name: 1, rank: 1, _id: 1 }]) {
    const sort = other as Record<string, 1 | -1>;
    assertEquals(usedOf((await pageAfter(app, { at: "/plain", sort, place: 9 }))[0]), NOT);
  }
});

test("a page has no bounds of an index where a hook tells the database how to read", async () => {
  await using app = await openIndexed(Indexed);
  const page = { at: "/plain", sort: { rank: 1, _id: 1 }, place: 9 } as const;
  for (
    const given of [{ hint: { _id: 1 } }, { collation: { locale: "en" } }, { hint: "by_name" }]
  ) {
    const headers = { "x-options": JSON.stringify(given) };
    const [find] = await pageAfter(app, { ...page, headers });
    assertEquals([find?.hint, find?.min], [(given as { hint?: unknown }).hint, undefined]);
  }
  const headers = { "x-options": JSON.stringify({ comment: "a page" }) };
  assertEquals((await pageAfter(app, { ...page, headers }))[0]?.hint, "rank_1__id_1");
});

/** Indexes that have not every document in the order of a page, or not for certain. */
const UNFIT: Record<string, (schema: Schema) => void> = {
  "is not declared": () => {},
  "is sparse": (schema) => schema.index({ rank: 1, _id: 1 }, { sparse: true }),
  "is partial": (schema) =>
    schema.index({ rank: 1, _id: 1 }, { partialFilterExpression: { rank: { $gt: 0 } } }),
  "has a collation": (schema) =>
    schema.index({ rank: 1, _id: 1 }, { collation: { locale: "en", strength: 1 } }),
  "is a hashed one": (schema) => schema.index({ rank: 1, _id: "hashed" }),
  "is of a schema with a collation": (schema) => {
    schema.set("collation", { locale: "en" });
    schema.index({ rank: 1, _id: 1 });
  },
  "could not be built": (schema) => schema.index({ rank: 1, _id: 1 }, { unique: "?" as never }),
  "is used where middleware sees the query": (schema) => {
    schema.index({ rank: 1, _id: 1 });
    schema.pre("find", () => {});
  },
};

for (const [what, configure] of Object.entries(UNFIT)) {
  test(`a page has no bounds of an index that ${what}`, async () => {
    const collection = `unfit_${crypto.randomUUID().slice(0, 8)}`;
    @rest({ route: "/unfit", methods: [all(LISTED)], schemaOptions: { collection } })
    class Unfit extends Part {
      static override configure = configure;
    }
    using _log = silenced();
    await using app = await openIndexed(Unfit);
    for (const sort of [{ rank: 1, _id: 1 }, { rank: -1, _id: -1 }] as const) {
      const finds = await pageAfter(app, { at: "/unfit", sort, place: 300 });
      assertEquals(finds.map(usedOf), [NOT]);
    }
  });
}

/** Keeps warnings about index builds from the output. */
function silenced(): Disposable {
  const { warn } = console;
  console.warn = () => {};
  return { [Symbol.dispose]: () => void (console.warn = warn) };
}

test("a page has no bounds of an index that this process has not seen built where it reads", async () => {
  @rest({ route: "/unseen", methods: [all(LISTED)], schemaOptions: { autoIndex: false } })
  class Unseen extends Indexed {}
  @rest({ route: "/elsewhere", methods: [all(LISTED)], schemaOptions: { autoIndex: false } })
  class Elsewhere extends Indexed {}
  for (const [model, at] of [[Unseen, "/unseen"], [Elsewhere, "/elsewhere"]] as const) {
    await using app = await mount([model]);
    const { collection } = getModel(model);
    await collection.insertMany(MANY.map((doc) => ({ ...doc })) as never);
    await collection.createIndex({ rank: 1, _id: 1 });
    if (model === Elsewhere) await getModel(model).ensureIndexes();
    // The new connection may lead to another deployment.
    const sent = await watchCommands(app.database.uri);
    const last = await collection.findOne({ rank: 8 });
    assertEquals((await app.get(`${at}?sort=rank&after=${last?._id}`)).status, 200);
    assertEquals([at, usedOf(sent.at(-1)?.command)], [at, NOT]);
  }
});

test("a page goes on without bounds where the database does not have the index any more", async () => {
  for (const at of ["/plain", "/hooked", "/lean"]) {
    await using app = await openIndexed(Indexed);
    const page = { at, sort: { rank: 1, _id: 1 } as const, place: 100 };
    assertEquals((await pageAfter(app, page)).map(({ hint }) => hint), ["rank_1__id_1"]);
    await app.collection.dropIndex("rank_1__id_1");
    const repeated = await pageAfter(app, page);
    assertEquals(repeated.map(({ hint }) => hint), ["rank_1__id_1", undefined], at);
    assertEquals((await pageAfter(app, page)).map(({ hint }) => hint), [undefined]);
    await getModel(Indexed).ensureIndexes();
    assertEquals((await pageAfter(app, page)).map(({ hint }) => hint), ["rank_1__id_1"]);
  }
});

/** Other indexes that may come in the place of one, under its name; the pages that they would spoil. */
const REPLACED = [
  ["rank_1__id_1", { rank: 1, _id: 1 }, { partialFilterExpression: { rank: { $gt: 30 } } }],
  ["by_name", { name: 1, _id: -1 }, {}],
] as const;

for (const [name, keys, options] of REPLACED) {
  test(`a page has no bounds of another index ${JSON.stringify(keys)} that is ${name} now`, async () => {
    const now = performance.now.bind(performance);
    let passed = 0;
    using _clock = stub(performance, "now", () => now() + passed);
    for (const at of ["/plain", "/hooked", "/lean"]) {
      await using app = await openIndexed(Indexed);
      const sort = name === "by_name"
        ? { name: -1, _id: 1 } as const
        : { rank: 1, _id: 1 } as const;
      const page = { at, sort, place: 100 };
      assertEquals((await pageAfter(app, page)).map(({ hint }) => hint), [name]);
      await app.collection.dropIndex(name);
      await app.collection.createIndex(keys, { name, ...options });
      passed += 60_000;
      assertEquals((await pageAfter(app, page)).map(usedOf), [NOT]);
      await app.collection.dropIndex(name);
      await app.collection.createIndex(sort, { name });
      passed += 60_000;
      assertEquals((await pageAfter(app, page)).map(({ hint }) => hint), [name]);
    }
  });
}

test("a page of a time series goes on without bounds, which it does not take", async () => {
  @rest({
    route: "/timed",
    methods: [all(LISTED)],
    schemaOptions: { timeseries: { timeField: "at" }, versionKey: false },
  })
  class Timed extends Indexed {
    static override configure = (schema: Schema) => void schema.index({ rank: 1, _id: 1 });
  }
  await using app = await mount([Timed]);
  const model = getModel(Timed);
  await model.createCollection();
  await model.collection.insertMany(MANY.map((each) => ({ ...each, at: new Date(0) })) as never);
  await model.ensureIndexes();
  const found = await model.collection.find().sort({ rank: 1, _id: 1 }).toArray();
  const ids = found.map(({ _id }) => String(_id));
  const page = await app.get<EntityBody[]>(`/timed?sort=rank&after=${ids[99]}`);
  assertEquals(page.body.map?.(({ _id }) => _id), ids.slice(100, 120), page.text);
});

test("a page has no bounds of an index behind a value that has no place of its own", async () => {
  const { Decimal128, ObjectId } = mongoose.Types;
  const { MinKey, Long } = mongoose.mongo;
  const odd = [[], [3, 7], [7], /a/, NaN, {}, new MinKey(), Decimal128.fromString("NaN")];
  const plain = [
    null,
    1.5,
    3,
    "x",
    true,
    new Date(0),
    new ObjectId(),
    new Long("9007199254740993"),
  ];
  const docs = [...odd, ...plain].map((rank) => ({ rank }));
  const named = [...docs, {}].map((doc, n) => ({ ...doc, name: `${n}` }));
  await using app = await openIndexed(Indexed, named);
  const used: Record<string, number> = {};
  for (const sort of [{ rank: 1, _id: 1 }, { rank: -1, _id: -1 }] as const) {
    for (const at of ["/plain", "/hooked", "/lean"]) {
      for (let place = 0; place < docs.length; place++) {
        const [find] = await pageAfter(app, { at, sort, place });
        const key = find?.hint === undefined ? "without" : "with";
        used[key] = (used[key] ?? 0) + 1;
      }
    }
  }
  // The last entity of each order is not asked for: the regular expression, and MinKey.
  assertEquals(used, { without: 6 * odd.length - 6, with: 6 * (plain.length + 1) });
});

import { once } from "node:events";
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import type { InitializeOptions } from "../../mod.ts";
import { longTest, test } from "../harness/testing.ts";
import { openStandalone } from "../support/shared_replica_set.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { mount } from "../support/support.ts";
import { whenIndexed } from "../support/until.ts";

class Part extends FrameworkModel {
  @prop()
  note?: string;
}

/** Makes a model with a unique field, in a collection of its own. */
function buildUnique(autoIndex: boolean) {
  const collection = `unique_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/unique",
    methods: [
      all(),
      one(),
      create(),
      update(),
      remove(),
      updateAll({ fields: ["name", "note"], atomic: false }),
    ],
    // A model is compiled, and its indexes are built, when it is first asked for.
    getConnection: () => mongoose.connection,
    schemaOptions: { collection, autoIndex, autoCreate: false },
  })
  class Unique extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
    @prop()
    note?: string;
    @rest({ methods: [create()] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
  }
  return { Unique, collection };
}

/** What a test may set. */
interface BrokenOptions extends InitializeOptions {
  readonly autoIndex?: boolean;
}

/** Serves a model whose unique index cannot be built yet: two entities have the same value. */
async function openBroken({ autoIndex = true, ...options }: BrokenOptions = {}) {
  const { Unique, collection } = buildUnique(autoIndex);
  const app = await mount([Unique], options as object);
  const stored = mongoose.connection.collection(collection);
  await stored.insertMany([{ name: "a" }, { name: "a" }]);
  await getModel(Unique).init().catch(() => {});
  const path = "/unique";
  return {
    app,
    stored,
    read: async () => (await app.get(path)).status,
    add: async (name: string) => (await app.post(path, { name })).status,
    nextBuild: () => once(getModel(Unique), "index"),
    repair: () => stored.deleteOne({ name: "a" }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Asks until an answer is as expected; the build is tried again in the meantime. */
async function until<T>(expected: T, ask: () => Promise<T>): Promise<Set<T>> {
  const before = new Set<T>();
  for (let left = 200; left > 0; left--) {
    const answer = await ask();
    if (answer === expected) break;
    before.add(answer);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return before;
}

test("an index that could not be built is built as soon as it can be", async () => {
  using log = stub(console, "warn");
  await using app = await openBroken({ indexes: "lazy" });
  assertEquals(await app.add("a"), 201);
  await app.stored.deleteMany({});
  let count = 0;
  await until(true, async () => {
    await app.add(`b${count++}`);
    // The list of indexes names one that is still being built.
    const known = await app.stored.aggregate([{ $indexStats: {} }]).toArray();
    return known.some(({ spec, building }) => spec.unique && !building);
  });
  assertEquals(await app.add("b0"), 409);
  const told = () =>
    log.calls.map(({ args }) => String(args[0])).filter((line) => !line.includes("may be missing"));
  await until(2, () => Promise.resolve(told().length));
  const lines = told();
  assertEquals(lines.length, 2);
  assertMatch(lines[0] ?? "", /^Cannot build an index of "Unique": .*duplicate key/);
  assertEquals(lines[1], 'The indexes of "Unique" are built');
});

test("onError is told of an index that could not be built, once", async () => {
  using _log = stub(console, "warn");
  using _error = stub(console, "error");
  const told: unknown[] = [];
  const onError = (_req: unknown, error: unknown, context: object) => {
    const { code } = error as { code?: unknown };
    told.push({ code, ...context });
  };
  await using app = await openBroken({ onError, indexes: "lazy" });
  for (const name of ["b", "c"]) assertEquals(await app.add(name), 201);
  const where = { method: "POST", route: "/unique", class: "Unique", operation: "create" };
  assertEquals(told, [{ code: 11000, ...where }]);
});

longTest("a build that fails again is told again only if the reason is another one", async () => {
  using log = stub(console, "warn");
  const told: unknown[] = [];
  const onError = (_req: unknown, { code }: { code?: unknown }) => void told.push(code);
  await using app = await openBroken({ onError, indexes: "lazy" } as never);
  const lines = () =>
    log.calls.map(({ args }) => /duplicate key.*{ name: "(.)" }/.exec(String(args[0]))?.[1])
      .filter((value) => value !== undefined);
  await app.stored.insertMany([{ name: "b" }, { name: "b" }]);
  await app.nextBuild();
  assertEquals(await app.add("c"), 201);
  assertEquals([told, lines()], [[11000], ["a"]]);
  await app.repair();
  await app.nextBuild();
  assertEquals(await app.add("d"), 201);
  assertEquals([told, lines()], [[11000, 11000], ["a", "b"]]);
});

longTest("a build whose connection breaks each time is told once", async () => {
  using log = stub(console, "warn");
  await using mongo = await openStandalone();
  const connection = await mongoose.createConnection(mongo.uri, { heartbeatFrequencyMS: 500 })
    .asPromise();
  await connection.getClient().db("admin").command({
    configureFailPoint: "failCommand",
    mode: "alwaysOn",
    data: { failCommands: ["createIndexes"], closeConnection: true },
  });
  const { Unique } = buildUnique(true);
  const model = getModel(Unique, connection);
  for (let failures = 3; failures > 0; failures--) await once(model, "index");
  assertEquals(log.calls.length, 1);
  await connection.close();
});

test("a write that sets a field of a unique index that is not built is a 503, and others go on", async () => {
  using _log = stub(console, "warn");
  const causes: string[] = [];
  const onError = (_req: unknown, error: Error) => void causes.push(`${error.cause ?? error}`);
  await using broken = await openBroken({ onError } as never);
  const { app, stored } = broken;
  const [first] = await stored.find().toArray();
  const path = `/unique/${first?._id}`;
  const asked = "/unique?q=%7B%22note%22%3A%22b%22%7D";
  const statuses = async () => [
    await broken.add("b"),
    (await app.patch(path, { name: "c" })).status,
    (await app.patch(path, { note: "b" })).status,
    (await app.patch(asked, { name: "d" })).status,
    (await app.patch(asked, { note: "c" })).status,
    (await app.post(`${path}/parts`, { note: "a" })).status,
  ];
  assertEquals(await statuses(), [503, 503, 200, 503, 200, 201]);
  assertMatch(causes.join(), /duplicate key/);
  assertEquals((await app.delete(path)).status, 204);
  await until(201, () => broken.add("b"));
  assertEquals([await broken.add("b"), await broken.add("a"), await broken.add("c")], [
    409,
    409,
    201,
  ]);
});

const hooks = {
  preSave: (_req: unknown, entity: Entity<Named>) => {
    if (entity.note === "named") entity.name = "c";
    return entity;
  },
};

@rest({
  route: "/named_late",
  methods: [
    update(hooks),
    updateAll({ fields: ["note"], ...hooks }),
    action("act", {
      on: "one",
      run: async (_req, entity: Entity<Named>) => {
        entity.name = "c";
        return await entity.save();
      },
    }),
  ],
  getConnection: () => mongoose.connection,
})
class Named extends FrameworkModel {
  static override schemaOptions = { collection: "named_late", autoCreate: false };
  @prop({ unique: true, sparse: true })
  name?: string;
  @prop()
  note?: string;
}

test("a unique field that a hook or an action sets is a 503, too, until its index is built", async () => {
  using _log = stub(console, "warn");
  await using app = await mountOnReplicaSet([Named], { onError: () => {} });
  const stored = mongoose.connection.collection("named_late");
  const { insertedIds } = await stored.insertMany([{ name: "a" }, { name: "a" }, { note: "a" }]);
  await getModel(Named).init().catch(() => {});
  const path = `/named_late/${insertedIds[2]}`;
  const all = "/named_late?q={}";
  const statuses = [
    (await app.patch(path, { note: "b" })).status,
    (await app.patch(path, { note: "named" })).status,
    (await app.patch(all, { note: "b" })).status,
    (await app.patch(all, { note: "named" })).status,
    (await app.post(`${path}/act`)).status,
  ];
  assertEquals(statuses, [200, 503, 200, 503, 503]);
  assertEquals(await stored.countDocuments({ name: "c" }), 0);
});

@rest({ route: "/made_late", methods: [create()], getConnection: () => mongoose.connection })
class Made extends FrameworkModel {
  static override schemaOptions = { collection: "made_late", autoCreate: false };
  @prop({ unique: true, sparse: true, default: () => "a" })
  code?: string;
}

test("a creation whose default sets a unique field is a 503 until its index is built", async () => {
  using _log = stub(console, "warn");
  await using app = await mount([Made], { onError: () => {} });
  const stored = mongoose.connection.collection("made_late");
  await stored.insertMany([{ code: "a" }, { code: "a" }]);
  await getModel(Made).init().catch(() => {});
  assertEquals((await app.post("/made_late", {})).status, 503);
});

test("writes that come first on an empty collection wait for its unique index", async () => {
  const { Unique } = buildUnique(true);
  await using app = await mount([Unique]);
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => app.post("/unique", { name: "a" })),
  );
  const statuses = replies.map(({ status }) => status).toSorted();
  assertEquals(statuses, [201, ...Array(19).fill(409)]);
});

test("a write builds the unique index of a connection that was opened anew", async () => {
  const { Unique } = buildUnique(true);
  await using app = await mount([Unique]);
  assertEquals((await app.post("/unique", { name: "a" })).status, 201);
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri);
  const add = async () => (await app.post("/unique", { name: "a" })).status;
  assertEquals([await add(), await add()], [201, 409]);
});

test('indexes: "required" keeps writes away until unique indexes stand', async () => {
  using _log = stub(console, "warn");
  using _error = stub(console, "error");
  await using app = await openBroken({ indexes: "required" });
  assertEquals([await app.add("b"), await app.add("b"), await app.read()], [503, 503, 200]);
  assertEquals(await app.stored.countDocuments(), 2);
  await app.repair();
  const before = await until(201, () => app.add("b"));
  assertEquals([...before].filter((status) => status !== 503), []);
  assertEquals(await app.add("b"), 409);
});

test('indexes: "required" waits for indexes that the host builds itself', async () => {
  using _error = stub(console, "error");
  await using app = await openBroken({ indexes: "required", autoIndex: false });
  assertEquals(await app.add("b"), 503);
  await app.repair();
  await app.stored.createIndex({ name: 1 }, { unique: true });
  assertEquals([await app.add("b"), await app.add("b")], [201, 409]);
});

test('indexes: "required" keeps writes away while an index is being built', async () => {
  using _error = stub(console, "error");
  await using mongo = await openStandalone();
  const { Unique, collection } = buildUnique(false);
  await using app = await mount([Unique], { indexes: "required", mongo: mongo.uri });
  const stored = mongoose.connection.collection(collection);
  await stored.insertOne({ name: "a" });
  const admin = mongoose.connection.getClient().db("admin");
  const hold = (mode: string) =>
    admin.command({ configureFailPoint: "hangAfterStartingIndexBuild", mode });
  const add = async () => (await app.post("/unique", { name: "b" })).status;
  await hold("alwaysOn");
  const building = stored.createIndex({ name: 1 }, { unique: true });
  building.catch(() => {});
  try {
    while ((await stored.indexes()).length < 2) await new Promise((done) => setTimeout(done, 20));
    assertEquals([await add(), await add()], [503, 503]);
  } finally {
    await hold("off");
  }
  await building;
  assertEquals([await add(), await add()], [201, 409]);
});

test('indexes: "required" takes the list of indexes for true where statistics may not be read', async () => {
  await using mongo = await openStandalone();
  const { Unique } = buildUnique(true);
  await using app = await mount([Unique], { indexes: "required", mongo: mongo.uri });
  await mongoose.connection.getClient().db("admin").command({
    ...{ configureFailPoint: "failCommand", mode: "alwaysOn" },
    data: { failCommands: ["aggregate"], errorCode: 13 },
  });
  const add = async () => (await app.post("/unique", { name: "b" })).status;
  assertEquals([await add(), await add()], [201, 409]);
});

test('indexes: "required" takes the list of indexes for true where statistics do not name them', async () => {
  const { Unique } = buildUnique(true);
  await using app = await mount([Unique], { indexes: "required" });
  const found = { toArray: () => Promise.resolve([{ storageStats: {} }]) };
  using _aggregate = stub(getModel(Unique).collection, "aggregate", () => found as never);
  const add = async () => (await app.post("/unique", { name: "b" })).status;
  assertEquals([await add(), await add()], [201, 409]);
});

test('indexes: "required" knows indexes that stand with the collation of their schema', async () => {
  @rest({
    route: "/collated",
    methods: [create()],
    schemaOptions: { collation: { locale: "en", strength: 1 } },
  })
  class Collated extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
  }
  await using app = await mount([Collated], { indexes: "required" });
  const add = async (name: string) => (await app.post("/collated", { name })).status;
  assertEquals([await add("a"), await add("A"), await add("b")], [201, 409, 201]);
});

test('indexes: "required" tells the host which unique indexes are missing', async () => {
  const causes: unknown[] = [];
  const onError = (_req: unknown, { cause }: { cause?: unknown }) => void causes.push(cause);
  using _error = stub(console, "error");
  await using app = await openBroken({ indexes: "required", autoIndex: false, onError } as never);
  assertEquals(await app.add("b"), 503);
  assertEquals(causes.map(String), ['Error: Unique indexes of "Unique" are missing: {"name":1}']);
});

test('indexes: "required" is not content with an index that is unique for some entities', async () => {
  @rest({
    route: "/somewhere",
    methods: [create()],
    schemaOptions: { collection: "somewhere", autoIndex: false },
  })
  class Somewhere extends FrameworkModel {
    @prop({ unique: true })
    name?: string;
  }
  using _error = stub(console, "error");
  await using app = await mount([Somewhere], { indexes: "required" });
  const { collection } = getModel(Somewhere);
  const partialFilterExpression = { live: true };
  await collection.createIndex({ name: 1 }, { unique: true, partialFilterExpression });
  assertEquals((await app.post("/somewhere", { name: "a" })).status, 503);
  await whenIndexed(() => collection.dropIndexes());
  await collection.createIndex({ name: 1 }, { unique: true });
  assertEquals((await app.post("/somewhere", { name: "a" })).status, 201);
});

test("indexes that are anything else are a start-up error", () => {
  const { Unique } = buildUnique(false);
  const options = { models: [Unique], indexes: true } as unknown as InitializeOptions;
  const message = 'Cannot initialize: "indexes" is true, not "required" or "lazy"';
  assertThrows(() => Framework.initialize(options), TypeError, message);
});

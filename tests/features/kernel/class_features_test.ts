import { assertEquals, assertThrows } from "@std/assert";
// @ts-types="express-types"
import express from "express";
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
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { features } from "../../../src/features.ts";
import { initializeWith } from "../../../src/host/initialize.ts";
import type { ClassFeature } from "../../../src/pipeline/class_feature.ts";
import type { AnyFeature } from "../../../src/pipeline/feature.ts";
import { FeatureList } from "../../../src/pipeline/feature_list.ts";

import { openDatabase } from "../../harness/database.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { start } from "../../support/support.ts";

/** A small feature of a class: entities with a time in the named field are there for nobody but the keeper. */
const shelved: ClassFeature<{ readonly field: string }> = {
  name: "shelved",
  check(option) {
    const { field } = option.parts("field");
    if (typeof field.value !== "string") throw option.fail('needs a field as "shelved.field"');
    return { field: field.value };
  },
  schema({ field }, schema) {
    schema.add({ [field]: { type: Date, hidden: true } });
    schema.index({ [field]: 1 });
  },
  condition: ({ field }, { headers }) =>
    headers["x-keeper"] === "yes" ? {} : { [field]: { $exists: false } },
};

const list = new FeatureList(features.all, [shelved]);

@rest({
  route: "/books",
  methods: [all({ count: { always: true }, search: ["name"] }), one(), update(), remove()],
  ...{ shelved: { field: "shelvedAt" } },
})
class Book extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({ route: "/readers", methods: [all({ populate: { books: {} } }), one(), create()] })
class Reader extends FrameworkModel {
  @arrayProp({ items: () => Book, exists: true })
  @rest({ methods: [all(), one()] })
  books!: Ref<Book>[];
}

async function serveBooks() {
  const app = express();
  app.use(express.json());
  app.use(initializeWith(list, { models: [Book, Reader] }));
  app.use(Framework.errors());
  const database = await openDatabase();
  const served = await start(app);
  const [open, gone] = await getModel(Book).create([{ name: "open" }, { name: "gone" }]) as Book[];
  await getModel(Book).collection.updateOne({ _id: gone?._id as never }, {
    $set: { shelvedAt: new Date() },
  });
  return {
    ...served,
    ids: [String(open?._id), String(gone?._id)] as const,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** What a request sees and reaches of the books, by each way there is. */
async function reachOf(
  app: Awaited<ReturnType<typeof serveBooks>>,
  { reader, headers }: { readonly reader: unknown; readonly headers: Record<string, string> },
) {
  const [, gone] = app.ids;
  const namesAt = async (path: string) => {
    const { body } = await app.get(path, { headers });
    return (body as never as { readonly name: string }[]).map(({ name }) => name).sort();
  };
  const { body: readers } = await app.get("/readers?populate=books", { headers });
  const [populated] = readers as never as { readonly books: { readonly name: string }[] }[];
  return {
    all: await namesAt("/books"),
    total: (await app.get("/books", { headers })).headers.get("x-total-count"),
    q: await namesAt('/books?q={"name":"gone"}'),
    search: await namesAt("/books?search=gone"),
    one: (await app.get(`/books/${gone}`, { headers })).status,
    part: await namesAt(`/readers/${reader}/books`),
    populated: populated?.books.map(({ name }) => name).sort(),
    update: (await app.patch(`/books/${gone}`, { name: "gone" }, { headers })).status,
    exists: (await app.post("/readers", { books: [gone] }, { headers })).status,
  };
}

const NONE = { all: ["open"], total: "1", q: [], search: [], part: ["open"], populated: ["open"] };
const BOTH = ["gone", "open"];
const ALL = { all: BOTH, total: "2", q: ["gone"], search: ["gone"], part: BOTH, populated: BOTH };

test("a router completes the settings of the features in its own list", () => {
  const given: unknown[] = [];
  const [first, ...others] = features.all;
  const settling: AnyFeature = {
    ...first as AnyFeature,
    settings: ({ tenant, timeMS }) => given.push({ tenant, timeMS }),
  };
  const tenant = () => "acme";
  const list = new FeatureList([settling, ...others], [shelved]);
  initializeWith(list, { models: [Book], tenant, limits: { timeMS: 900 } });
  assertEquals(given, [{ tenant, timeMS: 900 }]);
});

test("the condition of a class binds every read of it, and no path forgets it", async () => {
  await using app = await serveBooks();
  const { _id: reader } = await getModel(Reader).create({ books: app.ids } as never) as Reader;
  assertEquals(await reachOf(app, { reader, headers: {} }), {
    ...NONE,
    one: 404,
    update: 404,
    exists: 400,
  });
  assertEquals(await reachOf(app, { reader, headers: { "x-keeper": "yes" } }), {
    ...ALL,
    one: 200,
    update: 200,
    exists: 201,
  });
  assertEquals((await app.delete(`/books/${app.ids[1]}`)).status, 404);
});

test("a feature of a class adds fields and indexes to its schema", () => {
  const indexes = getModel(Book).schema.indexes().map(([keys]) => keys);
  assertEquals(indexes.some((keys) => "shelvedAt" in keys), true);
  assertEquals(getModel(Book).schema.path("shelvedAt")?.instance, "Date");
});

test("the option of a class is checked, and two @rest of the class have no different ones", () => {
  @rest({ route: "/wrong", methods: [all()], ...{ shelved: {} } })
  class Wrong extends FrameworkModel {
    @prop()
    name?: string;
  }
  const mount = (target: typeof Wrong) => () => initializeWith(list, { models: [target] });
  assertThrows(mount(Wrong), TypeError, 'Cannot mount "Wrong": needs a field as "shelved.field"');
  @rest({ route: "/a", methods: [all()], ...{ shelved: { field: "x" } } })
  @rest({ route: "/b", methods: [all()], ...{ shelved: { field: "y" } } })
  class Split extends FrameworkModel {
    @prop()
    name?: string;
  }
  assertThrows(
    mount(Split),
    TypeError,
    `its @rest decorators have different values of "shelved": { field: 'x' } for "/a", and { field: 'y' } for "/b"`,
  );
  const unknown = () => Framework.initialize({ models: [Book] });
  assertThrows(unknown, TypeError, "@rest has no option");
});

/** Small features of a class: the writer of an entity, and a record of each write in another collection. */
const signed: ClassFeature<true> = {
  name: "signed",
  check: () => true,
  schema(_config, schema) {
    const stamp = { type: String, readonly: true };
    schema.add({ madeBy: stamp, changedBy: stamp } as never);
  },
  stamps: (_config, { req, isNew }) => ({
    changedBy: req.headers["x-user"],
    ...isNew && { madeBy: req.headers["x-user"] },
  }),
};

const recorded: ClassFeature<true> = {
  name: "recorded",
  check: () => true,
  statements: {
    async send(_config, { change, entities, model, req, session }) {
      if (req?.headers["x-user"] === "nobody") throw new Error("No records of nobody");
      const records = entities.map(({ id }) => ({ change, id }));
      await model.db.collection("records").insertMany(records, { session });
    },
  },
};

const writing = new FeatureList(features.all, [signed, recorded]);

class Line extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/memos",
  methods: [
    all(),
    one(),
    create({ many: 10, formats: ["ndjson"] }),
    update(),
    updateAll({ fields: ["text"] }),
    replace(),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, memo: Entity<Memo>) => {
        memo.text = memo.text.toUpperCase();
        return await memo.save();
      },
    }),
  ],
  ...{ signed: true, recorded: true },
})
class Memo extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @rest({ methods: [all(), create(), update(), updateAll({ fields: ["text"] }), remove()] })
  @arrayProp({ items: Line, embedded: true, apart: false })
  lines!: Line[];
  @rest({ methods: [create(), remove()] })
  @prop({ type: Line, apart: false })
  last?: Line;
  @rest({ methods: [create(), remove()] })
  @arrayProp({ items: () => Book })
  books!: Ref<Book>[];
}

/** Serves memos on a replica set, and tells what is stored of them and what was recorded. */
async function serveMemos() {
  const app = express();
  app.use(express.json());
  app.use(initializeWith(writing, { models: [Memo] }));
  app.use(Framework.errors());
  const database = await openDatabase(await sharedReplicaSet());
  const served = await start(app);
  const { db, collection } = getModel(Memo);
  await db.createCollection("records");
  return {
    ...served,
    async stored(filter: object = {}) {
      const found = await collection.find(filter).sort({ _id: 1 }).toArray();
      return found.map(({ text, madeBy, changedBy }) => [text, madeBy, changedBy]);
    },
    whole: () => collection.find().toArray(),
    /** The changes that were recorded since the last call. */
    async told() {
      const found = await db.collection("records").find().toArray();
      await db.collection("records").deleteMany({});
      return found.map(({ change }) => change);
    },
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

const as = (user: string) => ({ headers: { "x-user": user } });

test("stamps and further statements of a class apply to each write of one entity", async () => {
  await using app = await serveMemos();
  const { body } = await app.post("/memos", { text: "a" }, as("ann"));
  assertEquals([await app.stored(), await app.told()], [[["a", "ann", "ann"]], ["create"]]);
  const path = `/memos/${body._id}`;
  await app.patch(path, { text: "b" }, as("bob"));
  assertEquals([await app.stored(), await app.told()], [[["b", "ann", "bob"]], ["update"]]);
  assertEquals((await app.put(path, { text: "c" }, as("eve"))).status, 200);
  assertEquals([(await app.stored())[0]?.[2], await app.told()], ["eve", ["update"]]);
  await app.post(`${path}/shout`, {}, as("sam"));
  assertEquals([(await app.stored())[0], await app.told()], [["C", "ann", "sam"], ["update"]]);
  assertEquals((await app.delete(path, as("ann"))).status, 204);
  assertEquals([await app.stored(), await app.told()], [[], ["remove"]]);
});

test("stamps and further statements of a class apply to each write of many", async () => {
  await using app = await serveMemos();
  await app.post("/memos", [{ text: "x" }, { text: "y" }], as("ann"));
  assertEquals(await app.stored({ text: "y" }), [["y", "ann", "ann"]]);
  assertEquals(await app.told(), ["create", "create"]);
  const lines = await fetch(`${app.url}/memos`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "x-user": "kim" },
    body: '{"text":"l"}\n{"text":"m"}\n',
  });
  assertEquals((await lines.text()).split("\n").length, 3);
  assertEquals(await app.stored({ text: "m" }), [["m", "kim", "kim"]]);
  assertEquals(await app.told(), ["create", "create"]);
  await app.patch('/memos?q={"text":"x"}', { text: "z" }, as("kim"));
  assertEquals(await app.stored({ text: "z" }), [["z", "ann", "kim"]]);
  assertEquals(await app.told(), ["update"]);
  assertEquals((await app.delete("/memos", as("ann"))).status, 204);
  assertEquals([await app.stored(), await app.told()], [[], Array(4).fill("remove")]);
});

test("further statements of a class apply to each write of a part of it", async () => {
  await using app = await serveMemos();
  const memo = { text: "a", lines: [{ text: "l" }] };
  const { body } = await app.post<Memo>("/memos", memo, as("ann"));
  const path = `/memos/${body._id}`;
  const line = `${path}/lines/${body.lines[0]?._id}`;
  await app.told();
  const sendAll = async (user: string) => [
    await app.post(`${path}/lines`, { text: "m" }, as(user)),
    await app.patch(line, { text: "n" }, as(user)),
    await app.patch(`${path}/lines?q={}`, { text: "o" }, as(user)),
    await app.post(`${path}/last`, { text: "p" }, as(user)),
    await app.delete(`${path}/last`, as(user)),
    await app.post(`${path}/books`, { name: "q" }, as(user)),
    await app.delete(line, as(user)),
  ];
  const before = await app.whole();
  const refused = await sendAll("nobody");
  assertEquals(refused.map(({ status }) => status), [500, 500, 500, 500, 404, 500, 500]);
  assertEquals([await app.whole(), await app.told()], [before, []]);
  const sent = await sendAll("bob");
  assertEquals(sent.map(({ status }) => status), [201, 200, 200, 201, 204, 201, 204]);
  assertEquals(await app.told(), Array(7).fill("update"));
  assertEquals((await app.stored())[0], ["a", "ann", "bob"]);
});

@rest({ route: "/diaries", methods: [all(), create()], ...{ recorded: true } })
class Diary extends FrameworkModel {
  @prop()
  text?: string;
}

test("a class whose writes need transactions fails the start on a standalone server", async () => {
  await using _database = await openDatabase();
  assertThrows(
    () => initializeWith(writing, { models: [Diary] }),
    TypeError,
    'Cannot mount "Diary": "recorded" adds statements to each write, but',
  );
});

test("a further statement that fails takes the write with it", async () => {
  await using app = await serveMemos();
  const { body } = await app.post("/memos", { text: "a" }, as("ann"));
  const path = `/memos/${body._id}`;
  const refused = [
    await app.post("/memos", { text: "n" }, as("nobody")),
    await app.post("/memos", [{ text: "n" }], as("nobody")),
    await app.patch(path, { text: "n" }, as("nobody")),
    await app.put(path, { text: "n" }, as("nobody")),
    await app.patch("/memos?q={}", { text: "n" }, as("nobody")),
    await app.delete(path, as("nobody")),
    await app.delete("/memos", as("nobody")),
  ];
  assertEquals(refused.map(({ status }) => status), Array(7).fill(500));
  assertEquals(await app.stored(), [["a", "ann", "ann"]]);
});

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
import { FeatureList } from "../../../src/pipeline/operation_options.ts";

import { openDatabase } from "../../harness/database.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
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

test("the condition of a class binds every read of it, and no path forgets it", async () => {
  await using app = await serveBooks();
  const [open, gone] = app.ids;
  const reader = await getModel(Reader).create({ books: [open, gone] } as never) as Reader;
  const seen = async (headers: Record<string, string>) => {
    const get = async (path: string) => (await app.get(path, { headers })).body as never;
    const names = (entities: readonly { readonly name: string }[]) =>
      entities.map(({ name }) => name).sort();
    const list = await app.get("/books", { headers });
    const [populated] = await get("/readers?populate=books") as { books: { name: string }[] }[];
    return {
      all: names(await get("/books")),
      total: list.headers.get("x-total-count"),
      q: names(await get('/books?q={"name":"gone"}')),
      search: names(await get("/books?search=gone")),
      one: (await app.get(`/books/${gone}`, { headers })).status,
      part: names(await get(`/readers/${reader._id}/books`)),
      populated: names(populated?.books ?? []),
      update: (await app.patch(`/books/${gone}`, { name: "gone" }, { headers })).status,
      exists: (await app.post("/readers", { books: [gone] }, { headers })).status,
    };
  };
  assertEquals(await seen({}), {
    all: ["open"],
    total: "1",
    q: [],
    search: [],
    one: 404,
    part: ["open"],
    populated: ["open"],
    update: 404,
    exists: 400,
  });
  assertEquals(await seen({ "x-keeper": "yes" }), {
    all: ["gone", "open"],
    total: "2",
    q: ["gone"],
    search: ["gone"],
    one: 200,
    part: ["gone", "open"],
    populated: ["gone", "open"],
    update: 200,
    exists: 201,
  });
  assertEquals((await app.delete(`/books/${gone}`)).status, 404);
});

test("a feature of a class adds fields and indexes to its schema", () => {
  const indexes = getModel(Book).schema.indexes().map(([keys]) => keys);
  assertEquals(indexes.some((keys) => "shelvedAt" in keys), true);
  assertEquals(getModel(Book).schema.path("shelvedAt")?.instance, "Date");
});

test("the option of a class is checked, and is the same on all @rest of the class", () => {
  @rest({ route: "/wrong", methods: [all()], ...{ shelved: {} } })
  class Wrong extends FrameworkModel {
    @prop()
    name?: string;
  }
  const mount = (target: typeof Wrong) => () => initializeWith(list, { models: [target] });
  assertThrows(mount(Wrong), TypeError, 'Cannot mount "Wrong": needs a field as "shelved.field"');
  @rest({ route: "/a", methods: [all()], ...{ shelved: { field: "x" } } })
  @rest({ route: "/b", methods: [all()] })
  class Split extends FrameworkModel {
    @prop()
    name?: string;
  }
  assertThrows(mount(Split), TypeError, 'its @rest decorators have different values of "shelved"');
  const unknown = () => Framework.initialize({ models: [Book] });
  assertThrows(unknown, TypeError, "@rest has no option");
});

/** Small features of a class: the writer of an entity, and a record of each write in another collection. */
const signed: ClassFeature<true> = {
  name: "signed",
  check: () => true,
  schema: (_rule, schema) =>
    void schema.add({ madeBy: { type: String }, changedBy: { type: String } }),
  stamps: (_rule, { req, isNew }) => ({
    changedBy: req.headers["x-user"],
    ...isNew && { madeBy: req.headers["x-user"] },
  }),
};

const recorded: ClassFeature<true> = {
  name: "recorded",
  check: () => true,
  async together(_rule, { change, ids, model, req, session }) {
    if (req.headers["x-user"] === "nobody") throw new Error("No records of nobody");
    const records = ids.map((id) => ({ change, id }));
    await model.db.collection("records").insertMany(records, { session });
  },
};

const writing = new FeatureList(features.all, [signed, recorded]);

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
}

test("stamps and further statements of a class apply wherever it is written", async () => {
  const app = express();
  app.use(express.json());
  app.use(initializeWith(writing, { models: [Memo] }));
  app.use(Framework.errors());
  await using mongo = await startMongo({ replicaSet: 1 });
  await using _database = await openDatabase(mongo.uri);
  const served = await start(app);
  const records = getModel(Memo).db.collection("records");
  const as = (user: string) => ({ headers: { "x-user": user } });
  const stored = async (filter: object = {}) =>
    (await getModel(Memo).collection.find(filter).sort({ _id: 1 }).toArray())
      .map(({ text, madeBy, changedBy }) => [text, madeBy, changedBy]);
  const told = async () => {
    const found = await records.find().toArray();
    await records.deleteMany({});
    return found.map(({ change }) => change);
  };
  await getModel(Memo).createCollection();
  await getModel(Memo).db.createCollection("records");

  const { body, status, text } = await served.post("/memos", { text: "a" }, as("ann"));
  assertEquals(status, 201, text);
  assertEquals([await stored(), await told()], [[["a", "ann", "ann"]], ["create"]]);
  const path = `/memos/${body._id}`;
  assertEquals((await served.patch(path, { text: "b" }, as("bob"))).status, 200);
  assertEquals([await stored(), await told()], [[["b", "ann", "bob"]], ["update"]]);
  assertEquals((await served.put(path, { text: "c" }, as("eve"))).status, 200);
  assertEquals(await told(), ["update"]);
  assertEquals((await served.post(`${path}/shout`, {}, as("sam"))).status, 200);
  assertEquals([(await stored())[0]?.[2], await told()], ["sam", ["update"]]);
  assertEquals(
    (await served.post("/memos", [{ text: "x" }, { text: "y" }], as("ann"))).status,
    201,
  );
  assertEquals([await stored({ text: "y" }), await told()], [[["y", "ann", "ann"]], [
    "create",
    "create",
  ]]);
  const lines = await fetch(`${served.url}/memos`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "x-user": "kim" },
    body: '{"text":"l"}\n{"text":"m"}\n',
  });
  assertEquals([lines.status, (await lines.text()).split("\n").length], [207, 3]);
  assertEquals([await stored({ text: "m" }), await told()], [[["m", "kim", "kim"]], [
    "create",
    "create",
  ]]);
  const many = await served.patch('/memos?q={"text":"x"}', { text: "z" }, as("kim"));
  assertEquals(many.status, 200);
  assertEquals([await stored({ text: "z" }), await told()], [[["z", "ann", "kim"]], ["update"]]);
  // A statement that fails takes the write with it.
  for (
    const refused of [
      await served.post("/memos", { text: "n" }, as("nobody")),
      await served.patch(path, { text: "n" }, as("nobody")),
      await served.delete(path, as("nobody")),
      await served.delete("/memos", as("nobody")),
    ]
  ) assertEquals(refused.status, 500);
  assertEquals([(await stored({ text: "n" })).length, (await stored()).length], [0, 5]);
  assertEquals((await served.delete(path, as("ann"))).status, 204);
  assertEquals(await told(), ["remove"]);
  assertEquals((await served.delete("/memos", as("ann"))).status, 204);
  assertEquals([await stored(), await told()], [[], Array(4).fill("remove")]);
  await served.stop();
});

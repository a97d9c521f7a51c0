import { assertEquals, assertThrows } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { features } from "../../../src/features.ts";
import { initializeWith } from "../../../src/host/initialize.ts";
import type { ClassFeature } from "../../../src/pipeline/class_feature.ts";
import { FeatureList } from "../../../src/pipeline/operation_options.ts";
import { openDatabase } from "../../harness/database.ts";
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
      entities.map(({ name }) => name);
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
    all: ["open", "gone"],
    total: "2",
    q: ["gone"],
    search: ["gone"],
    one: 200,
    part: ["open", "gone"],
    populated: ["open", "gone"],
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

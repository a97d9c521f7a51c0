import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, removeAll, rest } from "../../mod.ts";
import type { FrameworkRequest, ModelClass, Ref } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, type Mounted } from "../support/support.ts";

/** How many entities a list has. */
const ENTITIES = 2500;

/** The most documents that one reply of the database may bring. */
const MOST = 1024;

/** Connects anew, and gives the list to which the number of documents of every reply is added. */
async function watchReplies({ database }: Mounted): Promise<number[]> {
  const sizes: number[] = [];
  await mongoose.disconnect();
  await mongoose.connect(database.uri, { monitorCommands: true });
  mongoose.connection.getClient().on("commandSucceeded", ({ reply }) => {
    const { firstBatch, nextBatch } = Object(Object(reply).cursor);
    const batch: unknown = firstBatch ?? nextBatch;
    if (Array.isArray(batch)) sizes.push(batch.length);
  });
  return sizes;
}

/** Stores as many entities of a class as a list has; gives their identifiers. */
async function seed(target: ModelClass, more: object = {}): Promise<unknown[]> {
  const rows = Array.from({ length: ENTITIES }, (_, rank) => ({ rank, ...more }));
  const { insertedIds } = await getModel(target).collection.insertMany(rows as never);
  return Object.values(insertedIds);
}

/** Asserts that replies have brought something, and none of them too much. */
function assertBounded(sizes: number[], what: string): void {
  const most = Math.max(...sizes.splice(0));
  assert(most > 1, `${what}: no list was read`);
  assert(most <= MOST, `${what}: a reply with ${most} documents`);
}

const hooks = { postFetch: pass };
const PAGE = { page: { size: ENTITIES - 1, max: ENTITIES } };

/** Has the database judge what it cannot count. */
const uncountable = ({ framework }: FrameworkRequest) => {
  framework.filter = { $where: "true" };
  return true;
};

@rest({ route: "/documents", methods: [all(hooks)] })
@rest({ route: "/lean", methods: [all({ ...hooks, lean: true })] })
@rest({ route: "/pages", methods: [all({ ...hooks, ...PAGE })] })
@rest({ route: "/lean-pages", methods: [all({ ...hooks, ...PAGE, lean: true })] })
@rest({ route: "/populated", methods: [all({ ...hooks, populate: { next: true, all: true } })] })
@rest({
  route: "/counted",
  methods: [all({ page: { size: 10, max: 10 }, count: { always: true }, preFetch: uncountable })],
})
class Row extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop({ ref: () => Row })
  next?: Ref<Row>;
  @arrayProp({ items: () => Row })
  all?: Ref<Row>[];
}

/** Lists with hooks, and how many entities they show. */
const LISTS: Readonly<Record<string, number>> = {
  "/documents": ENTITIES,
  "/lean": ENTITIES,
  [`/pages?limit=${ENTITIES}`]: ENTITIES,
  "/pages": ENTITIES - 1,
  "/lean-pages": ENTITIES - 1,
  "/populated?populate=next": ENTITIES,
  [`/populated${asQuery({ rank: 0 })}&populate=all`]: 1,
  "/counted": 10,
};

test("all() with hooks reads no reply of more than 1,024 documents", async () => {
  await using app = await mount([Row]);
  const ids = await seed(Row, { next: new mongoose.Types.ObjectId() });
  await getModel(Row).collection.updateOne({ rank: 0 }, { $set: { all: ids } });
  const sizes = await watchReplies(app);
  for (const [path, count] of Object.entries(LISTS)) {
    const { status, body } = await app.get<unknown[]>(path);
    assertEquals([status, body.length], [200, count], path);
    assertBounded(sizes, path);
  }
});

/** What a `fetch` hook may give. */
const GIVEN: Readonly<Record<string, () => unknown>> = {
  "a query": () => getModel(Row).find().lean(),
  "an aggregation": () => getModel(Row).aggregate([{ $match: {} }]),
  "a cursor of Mongoose": () => getModel(Row).find().lean().cursor(),
  "a cursor of Mongoose, later": async () => {
    const cursor = getModel(Row).find().lean().cursor();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [cursor];
  },
  "a cursor of an aggregation": () => getModel(Row).aggregate([{ $match: {} }]).cursor(),
  "a cursor of the driver": () => getModel(Row).collection.find(),
};

for (const [name, open] of Object.entries(GIVEN)) {
  test(`${name} that fetch gives brings no reply of more than 1,024 documents`, async () => {
    const fetch = async () => {
      const given = await open();
      return Array.isArray(given) ? given[0] : given;
    };
    const isQuery = !name.startsWith("a cursor");
    @rest({
      route: "/given",
      methods: [all({ fetch: (isQuery ? open : fetch) as () => never, ...hooks })],
    })
    class Given extends FrameworkModel {}
    await using app = await mount([Row, Given]);
    await seed(Row);
    const sizes = await watchReplies(app);
    const { status, body } = await app.get<unknown[]>("/given");
    assertEquals([status, body.length], [200, ENTITIES]);
    assertBounded(sizes, name);
  });
}

test("a batch size that a hook gives applies", async () => {
  const sized = ({ framework }: FrameworkRequest) => {
    framework.options = { batchSize: 2000 };
    return true;
  };
  const cursor = () => getModel(Row).find().cursor({ batchSize: 2000 }) as never;
  const driver = () => getModel(Row).collection.find({}, { batchSize: 2000 }) as never;
  const query = () => getModel(Row).find().batchSize(2000).lean() as never;
  @rest({ route: "/option", methods: [all({ ...hooks, preFetch: sized })] })
  @rest({ route: "/cursor", methods: [all({ ...hooks, fetch: cursor })] })
  @rest({ route: "/driver", methods: [all({ ...hooks, fetch: driver })] })
  @rest({ route: "/query", methods: [all({ ...hooks, fetch: query })] })
  class Sized extends FrameworkModel {}
  await using app = await mount([Row, Sized]);
  await seed(Row);
  await seed(Sized);
  const sizes = await watchReplies(app);
  for (const path of ["/option", "/cursor", "/driver", "/query"]) {
    assertEquals((await app.get<unknown[]>(path)).body.length, ENTITIES);
    assertEquals(sizes.splice(0), [2000, 500], path);
  }
});

@rest({ route: "/parents", methods: [one()] })
class Parent extends FrameworkModel {
  @rest({ methods: [all(hooks), removeAll(hooks)] })
  @arrayProp({ items: Row })
  rows?: Ref<Row>[];
  @rest({ methods: [all({ ...hooks, lean: true }), removeAll(hooks)] })
  @arrayProp({ items: Row, embedded: true, apart: false })
  parts?: Row[];
}

test("lists of parts, and removals of them, read no reply of more than 1,024 documents", async () => {
  await using app = await mount([Row, Parent]);
  const rows = await seed(Row);
  const parts = rows.map((_id, rank) => ({ _id, rank }));
  const { insertedId } = await getModel(Parent).collection.insertOne({ rows, parts } as never);
  const sizes = await watchReplies(app);
  for (const name of ["rows", "parts"]) {
    const path = `/parents/${insertedId}/${name}`;
    assertEquals((await app.get<unknown[]>(path)).body.length, ENTITIES);
    assertBounded(sizes, path);
    assertEquals((await app.delete(path)).status, 204);
    assertBounded(sizes, `DELETE ${path}`);
    assertEquals((await app.get<unknown[]>(path)).body.length, 0);
  }
});

/** Has a removal be limited: the identifiers are read before. */
const limited = ({ framework }: FrameworkRequest) => {
  framework.options = { limit: ENTITIES };
  return true;
};

test("removeAll() reads no reply of more than 1,024 documents", async () => {
  @rest({ route: "/hooked", methods: [removeAll(hooks)] })
  @rest({ route: "/persisted", methods: [removeAll({ ...hooks, persist: pass })] })
  @rest({ route: "/limited", methods: [removeAll({ preFetch: limited })] })
  class Removed extends FrameworkModel {}
  await using app = await mount([Removed]);
  const sizes = await watchReplies(app);
  for (const path of ["/persisted", "/hooked", "/limited"]) {
    if (await getModel(Removed).countDocuments() === 0) await seed(Removed);
    sizes.length = 0;
    assertEquals((await app.delete(path)).status, 204);
    assertBounded(sizes, path);
  }
  assertEquals(await getModel(Removed).countDocuments(), 0);
});

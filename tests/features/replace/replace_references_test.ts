import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
} from "../../../mod.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, type Mounted, NOBODY } from "../../support/support.ts";

class Book extends FrameworkModel {
  @prop({ unique: true })
  isbn!: string;
  @prop({ required: true })
  title!: string;
  @prop()
  note?: string;
  @prop({ hidden: true })
  secret?: string;
}

@rest({ route: "/shelves", methods: [one(), create()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [replace({ by: "isbn" }), all(), one(), remove()] })
  @rest({ route: "/ids", methods: [replace()] })
  @rest({
    route: "/open",
    methods: [replace({ by: "isbn" })],
    scope: () => ({ note: { $ne: "closed" } }),
  })
  @arrayProp({ items: Book })
  books?: Ref<Book>[];
}

/** Makes shelves. */
async function shelves({ created }: Mounted, count = 2) {
  await getModel(Book).init();
  const made = await Promise.all(Array.from({ length: count }, () => created("/shelves", {})));
  return made.map(({ _id }) => `/shelves/${_id}`) as [string, string];
}

/** The books that a shelf refers to, as it is stored. */
async function heldBy({ read }: Mounted, shelf: string) {
  return (await read<{ books: string[] }>(shelf)).books;
}

test("replace() links a new entity to its parent, and replaces it there", async () => {
  await using app = await mount([Shelf]);
  const [shelf] = await shelves(app);
  const body = { title: "Dune", note: "n", secret: "s" };
  const made = await app.put(`${shelf}/books/1`, body);
  assertEquals([made.status, made.body.title, made.body.isbn], [201, "Dune", "1"], made.text);
  assertEquals(made.headers.get("location"), `${shelf}/books/${made.body._id}`);
  assertEquals(await heldBy(app, shelf), [made.body._id]);
  const changed = await app.put(`${shelf}/books/1`, { title: "New" });
  const { _id, isbn, title, note } = changed.body;
  assertEquals([changed.status, _id, isbn, title, note], [
    200,
    made.body._id,
    "1",
    "New",
    undefined,
  ]);
  assertEquals((await getModel(Book).collection.findOne())?.secret, "s");
  assertEquals(await heldBy(app, shelf), [made.body._id]);
  const named = await app.put(`${shelf}/ids/${NOBODY}`, { title: "Named", isbn: "2" });
  assertEquals([named.status, named.body._id], [201, NOBODY]);
  assertEquals(named.headers.get("location"), `${shelf}/ids/${NOBODY}`);
  assertEquals(await heldBy(app, shelf), [made.body._id, NOBODY]);
});

test("what another parent refers to is a 404, whoever has it", async () => {
  await using app = await mount([Shelf]);
  const [shelf, other] = await shelves(app);
  const { body } = await app.put(`${other}/books/1`, { title: "Other" });
  for (const path of [`${shelf}/books/1`, `${shelf}/ids/${body._id}`, `${shelf}/open/1`]) {
    for (const headers of [{}, { "If-None-Match": "*" }]) {
      const reply = await app.put<ErrorBody>(path, { title: "Mine", isbn: "1" }, { headers });
      assertEquals([reply.status, reply.body.code], [404, "NOT_FOUND"], path);
    }
  }
  assertEquals((await app.put(`${shelf}/books/2`, { title: "" })).status, 400);
  assertEquals(await heldBy(app, shelf), []);
  assertEquals((await getModel(Book).find()).map(({ title }) => title), ["Other"]);
  assertEquals((await app.put("/shelves/x/books/1", { title: "x" })).status, 404);
  assertEquals((await app.put(`/shelves/${NOBODY}/books/1`, { title: "x" })).status, 404);
});

test("the scope of a sub-route binds what is replaced, and what is created", async () => {
  await using app = await mount([Shelf]);
  const [shelf] = await shelves(app);
  assertEquals((await app.put(`${shelf}/open/1`, { title: "a", note: "closed" })).status, 403);
  assertEquals((await app.put(`${shelf}/books/1`, { title: "a", note: "closed" })).status, 201);
  assertEquals((await app.put(`${shelf}/open/1`, { title: "b" })).status, 404);
  assertEquals((await getModel(Book).findOne())?.title, "a");
});

test("tags bind a replacement of what a parent refers to", async () => {
  await using app = await mount([Shelf]);
  const [shelf] = await shelves(app);
  const path = `${shelf}/books/1`;
  const bound = (tag: unknown) => ({ headers: { "If-Match": String(tag) } });
  assertEquals((await app.put(path, { title: "a" }, bound("*"))).status, 412);
  const made = await app.put(path, { title: "a" }, { headers: { "If-None-Match": "*" } });
  assertEquals(made.status, 201);
  const again = await app.put(path, { title: "b" }, { headers: { "If-None-Match": "*" } });
  assertEquals(again.status, 412);
  const tag = made.headers.get("etag");
  assertEquals((await app.put(path, { title: "c" }, bound(tag))).status, 200);
  assertEquals((await app.put(path, { title: "d" }, bound(tag))).status, 412);
  assertEquals((await app.delete(`${shelf}/books/${made.body._id}`)).status, 204);
  assertEquals((await app.put(path, { title: "e" }, bound(tag))).status, 412);
  assertEquals(await heldBy(app, shelf), []);
});

test("on a replica set, 64 clients put one key: the entity and its reference are there once", async () => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Shelf], { mongo });
  const [shelf] = await shelves(app);
  const replies = await Promise.all(
    Array.from({ length: 64 }, (_, n) => app.put(`${shelf}/books/1`, { title: `t${n}` })),
  );
  const statuses = replies.map(({ status }) => status).sort();
  assertEquals(statuses, [...Array(63).fill(200), 201]);
  const [book, ...others] = await getModel(Book).find();
  assertEquals([others, await heldBy(app, shelf)], [[], [String(book?._id)]]);
});

import { assert, assertEquals } from "@std/assert";
import {
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
} from "../../../mod.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import { mount, type Mounted } from "../../support/support.ts";

const CLIENTS = Array.from({ length: 64 }, (_, index) => index);

class Named extends FrameworkModel {
  @prop({ unique: true })
  slug!: string;
  @prop({ type: Number })
  a?: number;
  @prop({ type: Number })
  b?: number;
  @arrayProp({ items: Number })
  list?: number[];
  @prop({ hidden: true })
  secret?: string;
}

/** Waits, so that all requests have read before one writes. */
const wait = async <E>(_req: FrameworkRequest, entity: E): Promise<E> => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return entity;
};

@rest({ route: "/fast", methods: [replace({ by: "slug" })] })
@rest({ route: "/slow", methods: [replace({ by: "slug", preSave: wait }), remove()] })
@rest({ route: "/own", methods: [replace({ by: "slug", persist: (_req, e) => e.save() })] })
@rest({ route: "/ids", methods: [replace()] })
@rest({ route: "/slow_ids", methods: [replace({ preSave: wait })] })
@rest({ route: "/scoped", methods: [replace({ by: "slug" })], scope: () => ({ a: { $gte: 0 } }) })
class Tag extends Named {}

class Linked extends Named {}

@rest({ route: "/shelves", methods: [one(), create()] })
class Shelf extends FrameworkModel {
  @rest({ methods: [replace({ by: "slug" }), one()] })
  @rest({ route: "/slow", methods: [replace({ by: "slug", preSave: wait })] })
  @arrayProp({ items: Linked })
  tags?: Ref<Linked>[];
}

/** The statuses of answers, and how often each one came. */
function counted(replies: readonly { readonly status: number }[]) {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Has all clients put whole entities on one key at the same time. */
function putAll({ put }: Mounted, path: string, headers = {}) {
  return Promise.all(CLIENTS.map((n) => put(path, { a: n, b: n, list: [n, n] }, { headers })));
}

const ROUTES = ["/fast/k", "/slow/k", "/ids/aaaaaaaaaaaaaaaaaaaaaaaa", "/scoped/k"];

test("of 64 clients that put one new key, one creates it, and the others replace it", async () => {
  await using app = await mount([Tag]);
  for (const path of [...ROUTES, "/slow_ids/aaaaaaaaaaaaaaaaaaaaaaaa"]) {
    for (let round = 0; round < casesOf(2, 1); round++) {
      await getModel(Tag).collection.deleteMany({});
      const replies = await putAll(app, path);
      assertEquals(counted(replies), { 200: 63, 201: 1 }, path);
      const left = await getModel(Tag).collection.find({}).toArray();
      assertEquals(left.length, 1, path);
      // One body as a whole, and every write has counted the version.
      const [{ a, b, list, __v } = {} as never] = left as never as [Required<Named>];
      assertEquals([a, list, __v], [b, [a, a], 63], path);
      for (const { body } of replies) {
        assertEquals<unknown>([body.b, body.list], [body.a, [body.a, body.a]]);
      }
    }
  }
});

test("of 64 clients with If-None-Match: * one creates the entity, and the others get a 412", async () => {
  await using app = await mount([Tag]);
  for (const path of ROUTES) {
    await getModel(Tag).collection.deleteMany({});
    const replies = await putAll(app, path, { "If-None-Match": "*" });
    assertEquals(counted(replies), { 201: 1, 412: 63 }, path);
    const left = await getModel(Tag).collection.find({}).toArray();
    const winner = replies.find(({ status }) => status === 201)?.body;
    assertEquals(left.map(({ a, __v }) => [a, __v]), [[winner?.a, 0]], path);
  }
});

test("of 64 clients with the same If-Match one replaces the entity", async () => {
  await using app = await mount([Tag]);
  for (const path of ROUTES) {
    await getModel(Tag).collection.deleteMany({});
    const made = await app.put(path, { a: 1, b: 1 });
    const replies = await putAll(app, path, { "If-Match": made.headers.get("etag") });
    assertEquals(counted(replies), { 200: 1, 412: 63 }, path);
    const [left] = await getModel(Tag).collection.find({}).toArray();
    assertEquals([left?.a, left?.__v], [left?.b, 1], path);
  }
});

test("64 clients put one new key among what a parent refers to", async () => {
  await using app = await mount([Shelf]);
  await getModel(Linked).init();
  for (const route of ["tags", "slow"]) {
    await getModel(Linked).collection.deleteMany({});
    const { _id } = await app.created("/shelves", {});
    const replies = await putAll(app, `/shelves/${_id}/${route}/k`);
    assertEquals(counted(replies), { 200: 63, 201: 1 }, route);
    const [left, ...others] = await getModel(Linked).collection.find({}).toArray();
    assertEquals([left?.a, others.length], [left?.b, 0]);
    const shelf = await app.read<{ tags: string[] }>(`/shelves/${_id}`);
    assertEquals(shelf.tags, [String(left?._id)]);
  }
});

test("a replacement that meets removals creates the entity again, or replaces it", async () => {
  await using app = await mount([Tag]);
  for (const path of ["/fast", "/slow"]) {
    for (let round = 0; round < 5; round++) {
      const made = await app.put(`${path}/k`, { a: 0, b: 0 });
      const id = made.body._id;
      const [replies, removed] = await Promise.all([
        Promise.all([1, 2, 3, 4].map((n) => app.put(`${path}/k`, { a: n, b: n }))),
        app.delete(`/slow/${id}`),
      ]);
      assert(removed.status === 204 || removed.status === 409, removed.text);
      for (const { status, text } of replies) assert(status === 200 || status === 201, text);
      assert(await getModel(Tag).countDocuments() < 2);
    }
  }
});

/** Writes to the stored entity as another request would, between the read and the write. */
let meanwhile: object = {};

class Part extends FrameworkModel {
  @prop({ type: Number })
  a?: number;
  @prop({ type: Number })
  b?: number;
  @prop({ hidden: true })
  secret?: string;
}

@rest({
  route: "/mixed",
  methods: [replace<Mixed>({
    by: "slug",
    preSave: async (_req, mixed) => {
      await getModel(Mixed).collection.updateOne({}, { $set: meanwhile });
      return mixed;
    },
  })],
})
class Mixed extends Named {
  @prop({ type: Number })
  c?: number;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Part })
  inner?: Part;
}

test("the last of two replacements is stored as a whole: nothing of the other one is left", async () => {
  meanwhile = { a: 5, b: 5, c: 5, list: [5], counts: { x: 5, y: 5 }, inner: { a: 5, b: 5 } };
  await using app = await mount([Mixed]);
  const before = { slug: "k", a: 1, b: 1, list: [1], counts: { x: 1 }, inner: { a: 1 } };
  for (const body of [{ a: 1, list: [1], counts: { x: 1 }, inner: { a: 1 } }, { a: 1 }]) {
    await getModel(Mixed).collection.deleteMany({});
    await getModel(Mixed).collection.insertOne({ ...before } as never);
    assertEquals((await app.put("/mixed/k", body)).status, 200);
    const { _id, __v, slug: _slug, ...left } = Object(await getModel(Mixed).collection.findOne());
    assertEquals(left, { list: [], ...body });
  }
});

test("what is hidden stays as another request has set it meanwhile", async () => {
  meanwhile = { secret: "new", "inner.secret": "new" };
  await using app = await mount([Mixed]);
  await getModel(Mixed).create({ slug: "k", secret: "old", inner: { a: 1, secret: "old" } });
  const { status, text } = await app.put("/mixed/k", { inner: { a: 2 } });
  assertEquals(status, 200, text);
  const left = await getModel(Mixed).collection.findOne();
  assertEquals([left?.secret, left?.inner.a, left?.inner.secret], ["new", 2, "new"]);
});

test("hooks that write take part: of 64 with a persist of their own, one entity is there", async () => {
  await using app = await mount([Tag]);
  // What a hook writes does not wait for indexes.
  await getModel(Tag).init();
  const replies = await putAll(app, "/own/k");
  const { 201: created = 0, ...others } = counted(replies);
  assertEquals([created, await getModel(Tag).countDocuments()], [1, 1], JSON.stringify(others));
});

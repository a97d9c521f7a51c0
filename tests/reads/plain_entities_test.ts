import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

class Size extends FrameworkModel {
  @prop({ type: Number })
  width?: number;
  @prop({ type: Number })
  height?: number;
}

class Thing extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ readonly: true })
  owner?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Size })
  size?: Size;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @arrayProp({ items: String })
  tags?: string[];
}

type Plain = Record<string, unknown>;

/** Another database: plain objects by their keys. */
class Store {
  readonly rows = new Map<string, Plain>();
  /** What `persist` hooks got as `previous`. */
  readonly previous: unknown[] = [];

  list = (): Plain[] => [...this.rows.values()];
  find = (req: FrameworkRequest): Plain | undefined => this.rows.get(String(req.params.id));
  fresh = (): Plain => ({ owner: "store" });

  put = (_req: unknown, entity: object, previous?: object): Plain => {
    this.previous.push(structuredClone(previous));
    const row: Plain = { _id: `k${this.rows.size}`, ...entity };
    this.rows.set(String(row._id), row);
    return row;
  };

  drop = (_req: unknown, entity: object, previous?: object): Plain => {
    this.previous.push(entity === previous);
    this.rows.delete(String((entity as Plain)._id));
    return entity as Plain;
  };

  constructor(...rows: Plain[]) {
    for (const row of rows) this.rows.set(String(row._id), row);
  }
}

/** Makes a model all of whose operations work on a store. */
function buildThings({ list, find, fresh, put, drop }: Store) {
  const methods = [
    all({ fetch: list }),
    one({ fetch: find }),
    create({ fetch: fresh, persist: put }),
    update({ fetch: find, persist: put }),
    remove({ fetch: find, persist: drop }),
    removeAll({ fetch: list, persist: drop }),
  ] as const;
  @rest({ route: "/things", methods })
  class Stored extends Thing {}
  return Stored;
}

test("all() and one() answer plain objects of a fetch hook, without hidden fields", async () => {
  const date = new Date(0);
  const store = new Store({ _id: "k0", name: "A", secret: "s", more: { big: 5n, date } });
  await using app = await mount([buildThings(store)]);
  const shown = { _id: "k0", name: "A", more: { big: 5, date: date.toISOString() } };
  const list = await app.get("/things");
  const one = await app.get("/things/k0");
  assertEquals([list.status, list.body], [200, [shown]]);
  assertEquals([one.status, one.body], [200, shown]);
});

test("every operation on one entity answers 404 when a fetch hook gives none", async () => {
  const store = new Store();
  await using app = await mount([buildThings(store)]);
  for (const method of ["GET", "PATCH", "DELETE"]) {
    const body = method === "PATCH" ? { body: {} } : {};
    const reply = await app.send<ErrorBody>(method, "/things/none", { ...body });
    assertEquals([method, reply.status, reply.body.code], [method, 404, "NOT_FOUND"]);
  }
  assertEquals((await app.get("/things")).body, []);
});

test("hooks after fetch work on plain objects", async () => {
  const fetchAll = () => Promise.resolve([{ rank: 1 }, { rank: 2 }, { rank: 3 }]);
  const methods = [all({
    fetch: fetchAll,
    postFetch: (_req, { rank }: { rank: number }) => rank === 2 ? null : { rank: rank * 10 },
    preSend: (_req, { rank }: { rank: number }) => ({ shown: rank, secret: "s" }),
  })];
  @rest({ route: "/hooked", methods })
  class Hooked extends FrameworkModel {
    @prop({ type: Number })
    rank!: number;
    @prop({ hidden: true })
    secret?: string;
  }
  await using app = await mount([Hooked]);
  assertEquals((await app.get("/hooked")).body, [{ shown: 10 }, { shown: 30 }]);
});

test("update() merges into a copy of a plain object and leaves the write to persist", async () => {
  const size = { width: 1, height: 2 };
  const row = { _id: "k0", name: "A", owner: "me", size, free: { a: { b: 1 }, c: 1 }, extra: 1 };
  const store = new Store({ ...row, tags: ["x"], counts: { a: 1, b: 2 }, secret: "s" });
  await using app = await mount([buildThings(store)]);
  const body = {
    name: "B",
    owner: "you",
    size: { width: "9" },
    free: { a: { b: null, d: 2 }, c: null },
  };
  const reply = await app.patch("/things/k0", {
    ...body,
    tags: ["y"],
    counts: { a: null, c: "3" },
    undeclared: 1,
    _id: "k9",
    secret: "t",
  });
  const changed = { ...row, name: "B", size: { width: 9, height: 2 }, free: { a: { d: 2 } } };
  const shown = { ...changed, tags: ["y"], counts: { b: 2, c: 3 } };
  assertEquals([reply.status, reply.body], [200, shown]);
  assertEquals(store.rows.get("k0"), { ...shown, secret: "t" });
  const before = { ...row, tags: ["x"], counts: { a: 1, b: 2 }, secret: "s" };
  assertEquals(store.previous, [before]);
});

test("update() clears fields of a plain object by null", async () => {
  const store = new Store({ _id: "k0", name: "A", rank: 1, tags: ["x"], size: { width: 1 } });
  await using app = await mount([buildThings(store)]);
  const body = { rank: null, tags: null, size: { width: null } };
  const reply = await app.patch("/things/k0", body);
  assertEquals<unknown>(reply.body, { _id: "k0", name: "A", tags: [], size: {} });
});

test("update() refuses what cannot be cast for a plain object, and persists nothing", async () => {
  const store = new Store({ _id: "k0", name: "A", size: { width: 1 }, free: {} });
  await using app = await mount([buildThings(store)]);
  const body = { rank: "x", size: { width: "x" }, free: { "$a": 1 }, counts: { a: "x" } };
  const reply = await app.patch<ErrorBody>("/things/k0", body);
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  assertEquals(Object.keys(reply.body.errors ?? {}).sort(), [
    "counts.a",
    "free",
    "rank",
    "size.width",
  ]);
  assertEquals([store.previous, store.rows.get("k0")?.rank], [[], undefined]);
});

test("update() gives a prototype key of a plain object's body no effect", async () => {
  const store = new Store({ _id: "k0", name: "A", free: {}, counts: {} });
  await using app = await mount([buildThings(store)]);
  const evil = `{"__proto__":{"evil":1},"constructor":{"evil":1}}`;
  const reply = await app.patch("/things/k0", undefined, {
    raw: `{"__proto__":{"evil":1},"free":${evil},"counts":${evil},"size":${evil}}`,
    headers: { "content-type": "application/json" },
  });
  assertEquals(reply.status, 200);
  assertEquals<unknown>(reply.body, { _id: "k0", name: "A", free: {}, counts: {}, size: {} });
  assertEquals((store.rows.get("k0") as { evil?: unknown }).evil, undefined);
});

test("update() keeps the class of a plain object", async () => {
  class Record {
    _id = "k0";
    name = "A";
  }
  const saved: object[] = [];
  const persist = (_req: unknown, entity: object) => {
    saved.push(entity);
    return entity;
  };
  @rest({ route: "/things", methods: [update({ fetch: () => new Record(), persist })] })
  class Kept extends Thing {}
  await using app = await mount([Kept]);
  await app.patch("/things/any", { name: "B" });
  assertEquals([saved[0] instanceof Record, (saved[0] as Record).name], [true, "B"]);
});

test("create() merges into what its fetch hook gives, persists it, and tells where it is", async () => {
  const store = new Store();
  await using app = await mount([buildThings(store)]);
  const body = { name: "A", rank: "5", owner: "you", secret: "s" };
  const reply = await app.post("/things", body);
  assertEquals([reply.status, reply.headers.get("location")], [201, "/things/k0"]);
  assertEquals(reply.body as Plain, { _id: "k0", name: "A", rank: 5, owner: "store" });
  assertEquals(store.rows.get("k0")?.secret, "s");
  assertEquals(store.previous, [undefined]);
});

test("create() encodes the identifier of another database in Location", async () => {
  const persist = () => ({ _id: "a/b?c#d" });
  @rest({ route: "/things", methods: [create({ fetch: () => ({}), persist })] })
  class Encoded extends Thing {}
  await using app = await mount([Encoded]);
  const reply = await app.post("/things", { name: "A" });
  assertEquals(reply.headers.get("location"), "/things/a%2Fb%3Fc%23d");
});

test("create() and update() refuse a plain object without a required field", async () => {
  const store = new Store({ _id: "k0", name: "A" });
  await using app = await mount([buildThings(store)]);
  const made = await app.post<ErrorBody>("/things", { rank: 1 });
  const url = "/things/k0";
  const cleared = await app.patch<ErrorBody>(url, { name: null });
  const kinds = [made, cleared].map(({ status, body }) => [status, body.errors?.name?.kind]);
  assertEquals(kinds, [[400, "required"], [400, "required"]]);
  assertEquals(store.previous, []);
});

test("create() with persist alone gives the hook a document that is valid", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/things",
    methods: [create<Piped>({
      persist: (_req, entity, ...previous) => {
        seen.push(entity.name, entity.isNew, previous.length);
        return { _id: entity._id, name: entity.name, secret: "s" };
      },
    })],
  })
  class Piped extends Thing {}
  await using app = await mount([Piped]);
  const reply = await app.post("/things", { name: "A" });
  assertEquals([reply.status, reply.body.name, "secret" in reply.body], [201, "A", false]);
  assertEquals(seen, ["A", true, 0]);
  const bad = await app.post<ErrorBody>("/things", {});
  assertEquals([bad.status, bad.body.errors?.name?.kind, seen.length], [400, "required", 3]);
  assertEquals(await getModel(Piped).countDocuments(), 0);
});

test("persist that gives null answers 204", async () => {
  const persist = () => null as unknown as object;
  const methods = [create({ fetch: () => ({}), persist }), update({ fetch: () => ({}), persist })];
  @rest({ route: "/things", methods })
  class Mute extends Thing {}
  await using app = await mount([Mute]);
  for (const [method, path] of [["POST", ""], ["PATCH", "/x"]] as const) {
    const reply = await app.send(method, `/things${path}`, { body: { name: "A" } });
    assertEquals([method, reply.status, reply.text], [method, 204, ""]);
  }
});

test("remove() and removeAll() leave plain objects to persist", async () => {
  const store = new Store({ _id: "k0" }, { _id: "k1" }, { _id: "k2" });
  await using app = await mount([buildThings(store)]);
  const one = await app.delete("/things/k1");
  assertEquals([one.status, [...store.rows.keys()]], [204, ["k0", "k2"]]);
  const rest = await app.delete("/things");
  assertEquals([rest.status, store.rows.size], [204, 0]);
  assertEquals(store.previous, [true, true, true]);
});

test("a write of a plain object without persist answers 500 and writes nothing", async () => {
  const entity = { _id: new mongoose.Types.ObjectId(), name: "A" };
  const fetch = () => [entity];
  const methods = [create({ fetch }), update({ fetch }), remove({ fetch }), removeAll({ fetch })];
  @rest({ route: "/things", methods })
  class Unwritten extends Thing {}
  await using app = await mount([Unwritten]);
  await getModel(Unwritten).collection.insertOne({ ...entity });
  using error = stub(console, "error");
  const calls = [["POST", ""], ["PATCH", "/x"], ["DELETE", "/x"], ["DELETE", ""]] as const;
  for (const [method, path] of calls) {
    const body = method === "DELETE" ? {} : { body: { name: "B" } };
    const reply = await app.send<ErrorBody>(method, `/things${path}`, { ...body });
    assertEquals([method, reply.status, reply.body.code], [method, 500, "INTERNAL"]);
  }
  assertEquals((await getModel(Unwritten).find()).map(({ name }) => name), ["A"]);
  assertEquals(error.calls.length, 4);
});

test("a model of another database needs no connection", async () => {
  const store = new Store({ _id: "k0", name: "A" });
  await using app = await mount([buildThings(store)], { limits: { timeMS: 5000 } });
  await mongoose.disconnect();
  const replies = [
    await app.get("/things"),
    await app.get("/things/k0"),
    await app.post("/things", { name: "B" }),
    await app.patch("/things/k0", { name: "C" }),
    await app.delete("/things/k0"),
    await app.delete("/things"),
  ];
  assertEquals(replies.map(({ status }) => status), [200, 200, 201, 200, 204, 204]);
});

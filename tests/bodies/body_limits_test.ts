import { assert, assertEquals, assertThrows } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import type { InitializeOptions } from "../../mod.ts";
import { pass, writesTo } from "../support/both_paths.ts";
import { longTest, test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "../support/support.ts";
import { growth } from "../support/growth.ts";

class Leaf extends FrameworkModel {
  @prop({ required: true, default: "a" })
  a!: string;
  @prop({ type: Number, max: 5 })
  n?: number;
}

class Tree extends FrameworkModel {
  @prop({ type: Map, of: Leaf })
  leaves?: Map<string, unknown>;
  @arrayProp({ items: Leaf, embedded: true })
  list?: Leaf[];
}

@rest({ route: "/plain", methods: [create(), one(), update()] })
@rest({ route: "/hooked", methods: [create({ preSave: pass }), update({ preSave: pass })] })
class Wood extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Tree })
  tree?: Tree;
  @prop({ type: Map, of: Leaf })
  leaves?: Map<string, unknown>;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @arrayProp({ items: Number })
  numbers?: number[];
  @arrayProp({ items: Leaf, embedded: true })
  list?: Leaf[];
}

type Problems = ErrorBody & { readonly more?: number };

function mountWood(options: Omit<InitializeOptions, "models"> = {}): Promise<Mounted> {
  const prepare = (app: express.Express) => app.use(express.json({ limit: "10mb" }));
  return mount([Wood], { ...options, prepare });
}

function keys<T>(count: number, value: (index: number) => T): Record<string, T> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`k${index}`, value(index)]),
  );
}

function list<T>(count: number, value: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => value(index));
}

async function newWood(values: object = {}): Promise<string> {
  return String((await getModel(Wood).create(values))._id);
}

test("create() and update() refuse a body with too much in it with a 400 that names field and limit", async () => {
  const body = { maxKeys: 6, maxElements: 4, maxObjects: 3 };
  await using app = await mountWood({ limits: { body } });
  const id = await newWood({ name: "old" });
  const tooMany: [body: object, field: string, limit: string][] = [
    [{ name: "x", free: keys(5, () => 1) }, "free", "6 keys"],
    [{ free: { a: { b: 1, c: 1, d: 1, e: 1, f: 1 } } }, "free", "6 keys"],
    [keys(7, () => 1), "k6", "6 keys"],
    [{ numbers: [1, 2, 3, 4, 5] }, "numbers", "4 elements in arrays"],
    [{ free: [[[1]], [1]] }, "free", "4 elements in arrays"],
    [{ name: "x", list: [{}, {}, {}, {}] }, "list", "3 objects"],
    [{ leaves: keys(3, () => ({})) }, "leaves", "3 objects"],
    [{ leaves: { a: {} }, tree: { list: [{}] } }, "tree", "3 objects"],
    [{ free: [{ a: [{}] }, {}, {}] }, "free", "3 objects"],
    [{ undeclared: [{}, {}, {}, {}] }, "undeclared", "3 objects"],
  ];
  for (const [verb, path] of writesTo(id)) {
    for (const [body, field, limit] of tooMany) {
      const reply = await app[verb]<ErrorBody & { field: string }>(path, body);
      const { code, message, field: named } = reply.body;
      assertEquals([body, reply.status, code, named], [body, 400, "BAD_FORMAT", field]);
      assertEquals(message, `Field "${field}" goes over the limit of ${limit} in a body`);
    }
    const reply = await app[verb](path, { free: keys(4, () => 1), numbers: [1, 2, 3, 4] });
    assertEquals(reply.status < 300, true);
    assertEquals((await app[verb](path, { list: [{}, {}, {}] })).status < 300, true);
  }
  assertEquals((await getModel(Wood).findById(id))?.name, "old");
});

test("create() refuses more than 5,000 keys or elements and 1,000 objects unless initialize() says otherwise", async () => {
  const bodies = [
    { free: keys(5000, () => 1) },
    { numbers: list(5_001, () => 1) },
    { list: list(1_001, () => ({})) },
    { leaves: keys(1_000, () => ({})) },
  ];
  for (
    const [limits, status] of [
      [{}, 400],
      [{ maxKeys: undefined, maxElements: undefined, maxObjects: undefined } as never, 400],
      [{ maxKeys: 6000, maxElements: 6000, maxObjects: 1_001 }, 201],
    ] as const
  ) {
    await using app = await mountWood({ limits: { body: limits } });
    for (const body of bodies) assertEquals((await app.post("/plain", body)).status, status);
  }
});

Deno.test("initialize() refuses caps on bodies that are no positive integers", () => {
  for (
    const bodyLimits of [{ maxKeys: 0 }, { maxElements: -1 }, { maxObjects: 0 }, { maxKeys: NaN }, {
      maxElements: 1.5,
    }]
  ) {
    const start = () => Framework.initialize({ models: [Wood], limits: { body: bodyLimits } });
    assertThrows(start, RangeError, "Cannot limit bodies");
  }
});

test("create() and update() name 100 problems of a body and how many more there are", async () => {
  await using app = await mountWood();
  const id = await newWood({ leaves: {}, counts: {} });
  const bodies: [body: object, more: number][] = [
    [{ numbers: list(300, () => "x") }, 200],
    [{ counts: keys(150, () => "x") }, 50],
    [{ list: list(160, () => ({ n: 9 })) }, 60],
    [{ leaves: keys(101, () => ({ n: 9 })) }, 1],
    [{ tree: { list: list(120, () => ({ n: 9 })) } }, 20],
  ];
  for (const [verb, path] of writesTo(id)) {
    for (const [body, more] of bodies) {
      const reply = await app[verb]<Problems>(path, body);
      const named = Object.keys(reply.body.errors ?? {}).length;
      assertEquals([path, reply.status, named, reply.body.more], [path, 400, 100, more]);
    }
    const few = await app[verb]<Problems>(path, { numbers: list(100, () => "x") });
    assertEquals([few.status, "more" in few.body], [400, false]);
  }
});

test("create() and update() store large Maps and arrays, wherever they stand, with defaults and _ids", async () => {
  await using app = await mountWood();
  const id = await newWood({ leaves: {}, tree: {} });
  const body = {
    leaves: keys(240, (n) => ({ a: `${n}` })),
    list: list(240, () => ({})),
    tree: { leaves: keys(240, () => ({})), list: list(240, (n) => ({ a: `${n}` })) },
  };
  for (const [verb, path] of [["post", "/plain"], ["patch", `/hooked/${id}`]] as const) {
    const reply = await app[verb](path, body);
    const read = await app.get<EntityBody>(`/plain/${reply.body._id}`);
    assertEquals(read.body, reply.body);
    const tree = read.body.tree as { leaves: Record<string, Leaf>; list: Leaf[] };
    const { k239 } = read.body.leaves as Record<string, Leaf>;
    assertEquals([k239?.a, tree.leaves.k239?.a, tree.list[239]?.a], ["239", "a", "239"]);
    const ids = new Set(read.text.match(/"_id":"[0-9a-f]{24}"/g));
    assert(ids.size >= 961, `${ids.size} identifiers`);
  }
});

test("update() validates large Maps beside large stored arrays", async () => {
  await using app = await mountWood();
  const id = await newWood({ list: list(1000, () => ({})), leaves: {}, free: {} });
  const good = { leaves: keys(500, () => ({ n: 1 })), free: keys(500, () => 1) };
  const reply = await app.patch(`/plain/${id}`, good);
  assertEquals([reply.status, Object.keys(reply.body.leaves as object).length], [200, 500]);
  const bad = await app.patch<ErrorBody>(`/plain/${id}`, {
    leaves: { k7: { n: 6 } },
    free: { x: 1 },
  });
  assertEquals([bad.status, Object.keys(bad.body.errors ?? {})], [400, ["leaves.k7.n"]]);
});

class Form extends FrameworkModel {
  @prop({ required: true })
  a?: string;
  @prop({ required: true })
  b?: string;
  @prop({ required: true })
  c?: string;
  @prop({ required: true })
  d?: string;
}

@rest({ route: "/forms", methods: [create()] })
@rest({ route: "/hooked-forms", methods: [create({ preSave: pass })] })
class Forms extends FrameworkModel {
  @arrayProp({ items: Form, embedded: true })
  list?: Form[];
}

longTest(
  "create() refuses thousands of problems of one body in the time that its size takes",
  async () => {
    await using app = await mount([Forms]);
    for (const path of ["/forms", "/hooked-forms"]) {
      const times = await growth(1000, async (size) => {
        const { status, body } = await app.post<Problems>(path, { list: list(size, () => ({})) });
        assertEquals([status, body.more], [400, size * 4 - 100]);
      });
      assert(times < 12, `${times}`);
    }
  },
);

import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import mongoose from "mongoose";
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
} from "../mod.ts";
import type { InitializeOptions } from "../mod.ts";
import { pass, writesTo } from "./both_paths.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, type Mounted } from "./support.ts";

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

test("create() and update() refuse a body with too many keys or elements with 400", async () => {
  await using app = await mountWood({ body: { maxKeys: 6, maxElements: 4 } });
  const id = await newWood({ name: "old" });
  const tooMany = [
    { name: "x", free: keys(5, () => 1) },
    { free: { a: { b: { c: { d: { e: { f: 1 } } } } } } },
    keys(7, () => 1),
    { numbers: [1, 2, 3, 4, 5] },
    { free: [[[1]], [1]] },
    { undeclared: [{}, {}, {}, {}, {}] },
  ];
  for (const [verb, path] of writesTo(id)) {
    for (const body of tooMany) {
      const reply = await app[verb]<ErrorBody>(path, body);
      assertEquals([body, reply.status, reply.body.code], [body, 400, "BAD_FORMAT"]);
    }
    const reply = await app[verb](path, { free: keys(4, () => 1), numbers: [1, 2, 3, 4] });
    assertEquals(reply.status < 300, true);
  }
  assertEquals((await getModel(Wood).findById(id))?.name, "old");
});

test("create() refuses more than 5,000 keys and 5,000 elements unless initialize() says otherwise", async () => {
  const bodies = [{ free: keys(5000, () => 1) }, { numbers: list(5_001, () => 1) }];
  for (
    const [limits, status] of [
      [{}, 400],
      [{ maxKeys: undefined, maxElements: undefined } as never, 400],
      [{ maxKeys: 6000, maxElements: 6000 }, 201],
    ] as const
  ) {
    await using app = await mountWood({ body: limits });
    for (const body of bodies) assertEquals((await app.post("/plain", body)).status, status);
  }
});

Deno.test("initialize() refuses caps on bodies that are no positive integers", () => {
  for (
    const body of [{ maxKeys: 0 }, { maxElements: -1 }, { maxKeys: NaN }, { maxElements: 1.5 }]
  ) {
    const start = () => Framework.initialize({ models: [Wood], body });
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

/** Counts how often Mongoose walks over the changes of a document. */
function countingDocument(): { readonly doc: mongoose.Document; readonly seen: () => number } {
  let seen = 0;
  const doc = getModel(Wood).hydrate({ _id: new mongoose.Types.ObjectId() }) as mongoose.Document;
  const states = (doc as unknown as { $__: { activePaths: { getStatePaths(n: string): object } } })
    .$__.activePaths;
  const original = states.getStatePaths;
  states.getStatePaths = function (name: string): object {
    const paths = original.call(this, name);
    const ownKeys = () => {
      seen += Reflect.ownKeys(paths).length;
      return Reflect.ownKeys(paths);
    };
    return new Proxy(paths, { ownKeys });
  };
  return { doc, seen: () => seen };
}

Deno.test("a Map of embedded objects costs no more than its keys", () => {
  const seenBy = (count: number) => {
    const { doc, seen } = countingDocument();
    doc.set("leaves", keys(count, () => ({ a: "x" })));
    assertEquals((doc.get("leaves") as Map<string, Leaf>).size, count);
    return seen();
  };
  assertLess(seenBy(1000), seenBy(100) * 20 + 100);
});

test("create() and update() store large Maps and arrays, wherever they stand, with defaults and _ids", async () => {
  await using app = await mountWood();
  const id = await newWood({ leaves: {}, tree: {} });
  const body = {
    leaves: keys(800, (n) => ({ a: `${n}` })),
    list: list(800, () => ({})),
    tree: { leaves: keys(800, () => ({})), list: list(800, (n) => ({ a: `${n}` })) },
  };
  for (const [verb, path] of [["post", "/plain"], ["patch", `/hooked/${id}`]] as const) {
    const reply = await app[verb](path, body);
    const read = await app.get<EntityBody>(`/plain/${reply.body._id}`);
    assertEquals(read.body, reply.body);
    const tree = read.body.tree as { leaves: Record<string, Leaf>; list: Leaf[] };
    const { k799 } = read.body.leaves as Record<string, Leaf>;
    assertEquals([k799?.a, tree.leaves.k799?.a, tree.list[799]?.a], ["799", "a", "799"]);
    const ids = new Set(read.text.match(/"_id":"[0-9a-f]{24}"/g));
    assert(ids.size >= 3201, `${ids.size} identifiers`);
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

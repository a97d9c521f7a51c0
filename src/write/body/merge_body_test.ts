import { assertEquals } from "@std/assert";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { mergeBody } from "./merge_body.ts";

class Inner extends FrameworkModel {
  @prop()
  a?: string;
  @prop()
  b?: string;
}

class Outer extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ default: "new" })
  state?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Inner })
  inners?: Map<string, unknown>;
  @arrayProp({ items: Number })
  numbers?: number[];
}

const SHAPE = describeShape(buildSchema(Outer).schema);

function merged(...given: Parameters<typeof mergeBody>): object {
  return mergeBody(...given).entity;
}

Deno.test("mergeBody() leaves the entity as it was, at every level", () => {
  const entity = { name: "a", inner: { a: "1" }, free: { x: { y: 1 } }, inners: { k: { a: "1" } } };
  const before = structuredClone(entity);
  const patch = { name: "b", inner: { a: "2" }, free: { x: { y: 2 } }, inners: { k: { a: "2" } } };
  const result = merged(entity, { body: patch, shape: SHAPE });
  assertEquals([entity, result], [before, patch]);
});

Deno.test("mergeBody() merges embedded objects, free-form fields and maps", () => {
  const entity = {
    inner: { a: "1", b: "2" },
    free: { x: { y: 1, z: 2 }, w: [1, 2] },
    inners: { k: { a: "1", b: "2" }, l: { a: "1" } },
    numbers: [1, 2],
  };
  const patch = {
    inner: { b: null },
    free: { x: { y: null, n: {} }, w: [3] },
    inners: { k: { a: "9" }, l: null, m: { b: "3" } },
    numbers: ["4"],
  };
  assertEquals(merged(entity, { body: patch, shape: SHAPE }), {
    inner: { a: "1" },
    free: { x: { z: 2, n: {} }, w: [3] },
    inners: { k: { a: "9", b: "2" }, m: { b: "3" } },
    numbers: [4],
  });
});

Deno.test("mergeBody() puts the default in the place of what is cleared", () => {
  assertEquals(merged({ state: "old" }, { body: { state: null }, shape: SHAPE }), {
    state: "new",
  });
});

Deno.test("mergeBody() clears by null: a field goes, an array becomes empty", () => {
  const entity = { name: "a", inner: { a: "1" }, numbers: [1], free: { x: 1 } };
  const patch = { name: null, inner: null, numbers: null, free: null, rank: null };
  assertEquals(merged(entity, { body: patch, shape: SHAPE }), { numbers: [] });
});

Deno.test("mergeBody() replaces what is no object by one, and the other way round", () => {
  const entity = { inner: null, free: [1], inners: "x" };
  const patch = { inner: { a: 1, b: null }, free: { x: { y: null } }, inners: { k: { a: "1" } } };
  const expected = { inner: { a: "1" }, free: { x: {} }, inners: { k: { a: "1" } } };
  assertEquals(merged(entity, { body: patch, shape: SHAPE }), expected);
  assertEquals(merged({ free: { x: 1 } }, { body: { free: "text" }, shape: SHAPE }), {
    free: "text",
  });
});

Deno.test("mergeBody() names every field that cannot be cast", () => {
  const patch = {
    rank: "x",
    inner: { a: {} },
    free: { "a.b": 1 },
    inners: { k: 1 },
    numbers: ["x"],
  };
  const entity = { inner: { a: "1" }, free: {}, inners: {} };
  const { problems = {} } = mergeBody(entity, { body: patch, shape: SHAPE });
  const wrong = ["free", "inner.a", "inners.k", "numbers.0", "rank"];
  assertEquals(Object.keys(problems).sort(), wrong);
});

class Guarded extends FrameworkModel {
  @prop()
  a?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ readonly: true, default: "new" })
  state!: string;
}

class Keeper extends FrameworkModel {
  @prop({ type: Guarded })
  inner?: Guarded;
  @prop({ type: Map, of: Guarded })
  inners?: Map<string, unknown>;
  @arrayProp({ items: Guarded, embedded: true })
  list?: Guarded[];
}

const KEEPER = describeShape(buildSchema(Keeper).schema);

Deno.test("mergeBody() keeps of an element that its _id names what no client can set", () => {
  const list = [{ _id: 1, a: "1", secret: "s", more: 1 }, { _id: "x", a: "2", state: "old" }];
  const patch = { list: [{ _id: "x" }, { _id: 1, a: "3" }, { _id: 1, a: "4" }, { _id: 9 }] };
  assertEquals(merged({ list }, { body: patch, shape: KEEPER }), {
    list: [{ _id: "x", state: "old" }, { _id: 1, a: "3", secret: "s", more: 1 }, { a: "4" }, {}],
  });
});

Deno.test("mergeBody() clears objects and values of maps by null but for what no client can set", () => {
  const kept = { a: "1", secret: "s" };
  const inners = { k: kept, l: { a: "1", state: "new" } };
  for (
    const patch of [{ inner: null, inners: null }, { inner: null, inners: { k: null, l: null } }]
  ) {
    const result = merged({ inner: kept, inners }, { body: patch, shape: KEEPER });
    assertEquals(result, { inner: { secret: "s" }, inners: { k: { secret: "s" } } });
  }
  assertEquals(merged({ inner: { a: "1" } }, { body: { inner: null }, shape: KEEPER }), {});
});

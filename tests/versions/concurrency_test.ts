import { assertEquals } from "@std/assert";
import { arrayProp, FrameworkModel, getModel, prop, remove, rest, update } from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { gate, race } from "../support/race.ts";
import { type ErrorBody, mount } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  a?: string;
  @prop()
  b?: string;
}

/** Makes a model of which `count` updates are all read before the first one is written. */
function buildModel(count: number): ModelClass & (abstract new () => Raced) {
  const preSave = gate(count) as <T extends object>(req: unknown, entity: T) => Promise<T>;
  @rest({ route: "/raced", methods: [update({ preSave })] })
  class Race extends Raced {}
  return Race;
}

class Raced extends FrameworkModel {
  @prop()
  a?: string;
  @prop()
  b?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: String })
  words?: Map<string, unknown>;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

test("update() loses neither of two concurrent updates of different fields", async () => {
  const Race = buildModel(2);
  await using app = await mount([Race]);
  const { statuses, left } = await race(app, Race, {
    created: { a: "0", b: "0" },
    patches: [{ a: "1" }, { b: "2" }],
  });
  assertEquals(statuses, [200, 200]);
  assertEquals([left.a, left.b, left.__v], ["1", "2", 2]);
});

test("update() loses no field of twenty concurrent updates of one free-form field", async () => {
  const Race = buildModel(20);
  await using app = await mount([Race]);
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const patches = keys.map((key) => ({ free: { [key]: 1 } }));
  const { left } = await race(app, Race, { created: { free: { first: 1 } }, patches });
  assertEquals(Object.keys(left.free as object).length, 21);
  assertEquals(left.__v, 20);
});

test("update() loses neither of two concurrent updates inside one embedded object or map", async () => {
  const Race = buildModel(2);
  await using app = await mount([Race]);
  const entity = { inner: { a: "0", b: "0" }, words: { a: "0", b: "0" } };
  const patches = [
    { inner: { a: "1" }, words: { a: "1", c: "3" } },
    { inner: { b: "2" }, words: { b: null } },
  ];
  const { statuses, left } = await race(app, Race, { created: entity, patches });
  const { a, b } = left.inner as Inner;
  assertEquals(statuses, [200, 200]);
  assertEquals([a, b, left.words], ["1", "2", { a: "1", c: "3" }]);
});

test("update() lets the last of two concurrent updates of one field win", async () => {
  const Race = buildModel(2);
  await using app = await mount([Race]);
  const { statuses, left } = await race(app, Race, {
    created: { a: "0" },
    patches: [{ a: "1" }, { a: "2" }],
  });
  assertEquals(statuses, [200, 200]);
  assertEquals(["1", "2"].includes(String(left.a)), true);
});

test("update() answers 409 to one of two that replace the same array", async () => {
  for (const field of ["tags", "inners"]) {
    const Race = buildModel(2);
    await using app = await mount([Race]);
    const value = (text: string) => field === "tags" ? [text] : [{ a: text }];
    const patches = [{ [field]: value("1") }, { [field]: value("2") }];
    const { replies, statuses, left } = await race(app, Race, {
      created: { [field]: value("0") },
      patches,
    });
    assertEquals(statuses.toSorted(), [200, 409]);
    const winner = replies.findIndex(({ status }) => status === 200);
    const [first] = left[field] as (string | Inner)[];
    assertEquals(typeof first === "string" ? first : first?.a, String(winner + 1));
    assertEquals((replies[1 - winner]?.body as unknown as ErrorBody).code, "CONFLICT");
    assertEquals(left.__v, 1);
  }
});

test("update() of an array and of another field at the same time both survive", async () => {
  for (const patches of [[{ a: "1" }, { tags: ["x"] }], [{ tags: ["x"] }, { a: "1" }]]) {
    const Race = buildModel(2);
    await using app = await mount([Race]);
    const { statuses, left } = await race(app, Race, { created: { a: "0", tags: ["y"] }, patches });
    assertEquals(statuses, [200, 200]);
    assertEquals([left.a, left.tags], ["1", ["x"]]);
  }
});

test("update() increments __v with every update, and answers with it", async () => {
  const Race = buildModel(1);
  await using app = await mount([Race]);
  const { _id } = await getModel(Race).create({ a: "0" });
  const patches: object[] = [
    ...[{ a: "1" }, {}, { a: "1" }, { tags: ["x"] }, { tags: [] }, { tags: ["x", "y"] }],
    ...[{ inners: [{ a: "1" }] }, { inners: null }, { inner: { a: "1" } }, { inner: null }],
    ...[{ undeclared: 1 }, { free: { a: 1 }, tags: [] }],
  ];
  for (const [index, body] of patches.entries()) {
    const reply = await app.patch(`/raced/${_id}`, body);
    const stored = await getModel(Race).findById(_id).lean();
    assertEquals([body, reply.status, reply.body.__v], [body, 200, index + 1]);
    assertEquals([body, stored?.__v], [body, index + 1]);
  }
});

test("update() counts from 0 when an entity has no __v yet", async () => {
  const Race = buildModel(1);
  await using app = await mount([Race]);
  const { insertedId } = await getModel(Race).collection.insertOne({ a: "0" });
  for (const [version, body] of [[1, { a: "1" }], [2, { tags: ["x"] }]] as const) {
    const reply = await app.patch(`/raced/${insertedId}`, body);
    const stored = await getModel(Race).findById(insertedId).lean();
    assertEquals([reply.status, reply.body.__v, stored?.__v], [200, version, version]);
  }
});

test("update() counts an array edit from 0 when an entity has no __v yet", async () => {
  const Race = buildModel(1);
  await using app = await mount([Race]);
  const { insertedId } = await getModel(Race).collection.insertOne({ tags: ["a"] });
  const reply = await app.patch(`/raced/${insertedId}`, { tags: ["x"] });
  const stored = await getModel(Race).findById(insertedId).lean();
  assertEquals([reply.status, reply.body.__v, stored?.tags], [200, 1, ["x"]]);
});

test("update() obeys a versionKey of another name, and one that is switched off", async () => {
  for (const versionKey of ["version", false] as const) {
    @rest({ route: "/raced", methods: [update()], schemaOptions: { versionKey } })
    class Keyed extends FrameworkModel {
      @prop()
      a?: string;
    }
    await using app = await mount([Keyed]);
    const body = { a: "1", version: 9 };
    const { replies, left } = await race(app, Keyed, { created: { a: "0" }, patches: [body] });
    const expected = versionKey === false ? [200, undefined, undefined] : [200, 1, 1];
    assertEquals([replies[0]?.status, replies[0]?.body.version, left.version], expected);
    assertEquals("__v" in left, false);
  }
});

test("update() and remove() answer 409 when the entity vanishes after it was read", async () => {
  const preSave = async <T extends { _id: unknown }>(_req: unknown, entity: T) => {
    await getModel(Fading).deleteOne({ _id: String(entity._id) });
    return entity;
  };
  @rest({ route: "/fading", methods: [update({ preSave }), remove({ preSave })] })
  class Fading extends FrameworkModel {
    @prop()
    a?: string;
    @arrayProp({ items: String })
    tags?: string[];
  }
  await using app = await mount([Fading]);
  for (const body of [{ a: "1" }, {}, { tags: ["x"] }, undefined]) {
    const { _id } = await getModel(Fading).create({ a: "0" });
    const method = body === undefined ? "DELETE" : "PATCH";
    const reply = await app.send<ErrorBody>(method, `/fading/${_id}`, { body });
    assertEquals([body, reply.status, reply.body?.code], [body, 409, "CONFLICT"]);
    assertEquals(await getModel(Fading).countDocuments(), 0);
  }
});

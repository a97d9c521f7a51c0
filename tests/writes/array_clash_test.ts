import { assert, assertEquals } from "@std/assert";
import type mongoose from "mongoose";
import { arrayProp, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import type { FrameworkRequest, HooksOf, ModelClass } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { fetching, gate, race } from "../support/race.ts";
import { mount } from "../support/support.ts";

class Item extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Map, of: Number })
  years?: Map<string, number>;
}

class Listed extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: String })
  words?: Map<string, string>;
  @prop({ type: Item })
  inner?: Item;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
}

/** Makes a model of its own with `update()` and hooks. */
function made(hooks: HooksOf<Listed> = {}, versionKey: string | false = "__v"): ModelClass<Listed> {
  const collection = `listed_${crypto.randomUUID().slice(0, 8)}`;
  const schemaOptions = { collection, versionKey };
  @rest({
    route: "/raced",
    methods: [update<Listed>(hooks)],
    schemaOptions: schemaOptions as never,
  })
  class Made extends Listed {}
  return Made;
}

test("update() answers 409 to all but one that replace an array without any hook", async () => {
  const model = made();
  await using app = await mount([model]);
  let clashes = 0;
  for (let round = 0; round < 10; round++) {
    const patches = Array.from({ length: 8 }, (_, index) => ({ tags: [`t${index}`] }));
    const { statuses, left } = await race<Listed>(app, model, { stored: { tags: ["a"] }, patches });
    const won = statuses.flatMap((status, index) => status === 200 ? [`t${index}`] : []);
    clashes += statuses.filter((status) => status === 409).length;
    assert(statuses.every((status) => status === 200 || status === 409), String(statuses));
    assertEquals([won.length, won.includes(String(left.tags?.[0]))], [left.__v, true]);
  }
  assert(clashes > 0);
});

test("update() answers 409 to one of two that replace an array, whoever has read it", async () => {
  for (const [versionKey, fetches] of [["__v", false], ["__v", true], [false, false]] as const) {
    // Objects with numeric keys are told apart by the version.
    const years = versionKey === false ? {} : { years: { 2021: 1, 2020: 2 } };
    const items = (name: string) => [{ name, ...years }];
    for (
      const [before, patches] of [
        [{ tags: ["a"] }, [{ tags: ["b"] }, { tags: ["c"] }]],
        [{ items: items("a") }, [{ items: items("b") }, { items: items("c") }]],
        [{}, [{ tags: ["b"] }, { tags: ["c"] }]],
      ] as const
    ) {
      const model: ModelClass<Listed> = made({
        ...fetches && fetching(() => model),
        preSave: gate(2),
      }, versionKey);
      await using app = await mount([model]);
      const { statuses } = await race<Listed>(app, model, { stored: before, patches });
      assertEquals(statuses.sort(), [200, 409], JSON.stringify([versionKey, fetches, before]));
    }
  }
});

test("update() of an array and of other fields all survive, whoever has read the entity", async () => {
  for (const fetches of [false, true]) {
    const model: ModelClass<Listed> = made({
      ...fetches && fetching(() => model),
      preSave: gate(5),
    });
    await using app = await mount([model]);
    const years = new Map([["2020", 2], ["2021", 1]]);
    const _id = new (getModel(model).base.Types.ObjectId)();
    const entity = { items: [{ _id, name: "a", secret: "s", years }], inner: {} };
    const others = Array.from({ length: 4 }, (_, index) => ({ inner: { name: `n${index}` } }));
    const { statuses, left } = await race<Listed>(app, model, {
      stored: entity,
      patches: [{ items: [] }, ...others],
    });
    assertEquals(statuses, Array(5).fill(200));
    assertEquals([left.items, left.__v], [[], 5]);
  }
});

test("update() takes no numeric key of a free-form object or map for a position", async () => {
  const model = made({ preSave: gate(2) });
  await using app = await mount([model]);
  const entity = { free: { 5: 0, counts: { 1: 0 } }, words: { 7: "a" } };
  const patches = [
    { free: { 5: 1, counts: { 1: 1 } }, words: { 7: "b" } },
    { name: "n" },
  ];
  const { statuses, left } = await race<Listed>(app, model, { stored: entity, patches });
  assertEquals(statuses, [200, 200]);
  assertEquals([left.free, left.words as unknown, left.name], [
    { 5: 1, counts: { 1: 1 } },
    { 7: "b" },
    "n",
  ]);
});

test("update() answers 409 when a hidden field of an element was changed meanwhile", async () => {
  for (const fetches of [false, true]) {
    const model: ModelClass<Listed> = made({
      ...fetches && fetching(() => model),
      async preSave(_req, entity) {
        const change = { $set: { "items.0.secret": "changed" }, $inc: { __v: fetches ? 1 : 0 } };
        await getModel(model).collection.updateOne({ _id: entity._id } as never, change as never);
        return entity;
      },
    });
    await using app = await mount([model]);
    const entity = { items: [{ name: "a", secret: "s" }] };
    const { statuses, left } = await race<Listed>(app, model, {
      stored: entity,
      patches: [{ items: [{ name: "b" }] }],
    });
    assertEquals([statuses, left.items?.[0]?.secret], [[409], "changed"]);
  }
});

test("update() binds positions that a hook changes to the array that was read", async () => {
  const pass = gate(2);
  const model = made({
    async preSave(req: FrameworkRequest<Listed>, entity) {
      const doc = await pass(req, entity) as unknown as mongoose.Document;
      if (req.body.name === "hooked") doc.set("items.1.name", "hooked");
      return entity;
    },
  });
  await using app = await mount([model]);
  const entity = { items: [{ name: "a" }, { name: "b" }] };
  const { statuses, left } = await race<Listed>(app, model, {
    stored: entity,
    patches: [{ name: "hooked" }, { items: [] }],
  });
  assertEquals(statuses.toSorted(), [200, 409]);
  const expected = statuses[0] === 200 ? ["a", "hooked"] : [];
  assertEquals(left.items?.map(({ name }) => name), expected);
});

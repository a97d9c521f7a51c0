import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const { ObjectId, Decimal128 } = mongoose.Types;

class Inner extends FrameworkModel {
  @prop({ type: Object })
  free?: object;
}

class Crate extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: mongoose.Schema.Types.Mixed })
  map?: Map<string, unknown>;
  @arrayProp({ items: Object })
  list?: object[];
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

@rest({ route: "/plain", methods: [one(), replace(), update()] })
class Plain extends Crate {}

const preSave = (_req: unknown, entity: object) => entity;

@rest({ route: "/hooked", methods: [one(), replace({ preSave }), update()] })
class Hooked extends Crate {}

const when = new Date(5);

function crateOf() {
  const [one, two] = [new ObjectId(), new ObjectId()];
  return {
    _id: new ObjectId(),
    title: "a",
    free: { when, deep: [{ at: when, id: two }, "text"], price: Decimal128.fromString("1.50") },
    map: { when, text: "x" },
    list: [when, { when }],
    inner: { _id: one, free: { when } },
    inners: [{ _id: two, free: { when, text: when.toISOString() } }],
    __v: 0,
  };
}

async function storeCrate(target: ModelClass) {
  const crate = crateOf();
  await getModel(target).collection.insertOne(crate as never);
  return crate;
}

for (const [route, target] of [["/plain", Plain], ["/hooked", Hooked]] as const) {
  test(`a PUT to ${route} with what a GET shows keeps dates in free-form data`, async () => {
    await using app = await mount([Plain, Hooked]);
    const { _id, ...crate } = await storeCrate(target);
    const path = `${route}/${_id}`;
    const read = () => getModel(target).collection.findOne({ _id }, { projection: { _id: 0 } });
    const { body } = await app.get<EntityBody>(path);
    const { status, body: answer } = await app.put<EntityBody>(path, { ...body, title: "b" });
    assertEquals([status, answer], [200, { ...body, title: "b", __v: 1 }]);
    assertEquals(await read(), { ...crate, title: "b", __v: 1 } as object);
    const other = new Date(6).toISOString();
    const free = { when: other, deep: [{ at: when.toISOString(), more: other }] };
    await app.put(path, { title: "c", free });
    const stored = await read();
    assertEquals(stored?.free, { when: other, deep: [{ at: when, more: other }] });
    assertEquals(
      await app.put(path, { title: "d", free: when.toISOString() }).then((it) => it.status),
      200,
    );
    assertEquals((await read())?.free, when.toISOString());
  });
}

test("a PATCH of a list with what a GET shows keeps dates in the free-form data of its elements", async () => {
  await using app = await mount([Plain]);
  const { _id, inners } = await storeCrate(Plain);
  const { body } = await app.get<{ inners: object[] }>(`/plain/${_id}`);
  await app.patch(`/plain/${_id}`, { inners: [...body.inners, { free: { when } }] });
  const stored = await getModel(Plain).collection.findOne({ _id });
  assertEquals(stored?.inners[0] as unknown, inners[0]);
  assertEquals(stored?.inners[1].free, { when: when.toISOString() });
});

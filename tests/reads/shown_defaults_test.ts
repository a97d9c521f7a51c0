import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { arrayProp, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { type EntityBody, mount } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ default: "draft" })
  status?: string;
}

class Fields extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ default: "draft" })
  status?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Inner })
  filled?: Inner;

  static override configure(schema: Schema): void {
    schema.path("filled").default(() => ({ name: "default" }));
  }
}

/** The gate that entities pass before they are saved, made anew for each race. */
let pass = gate(0);

function preSave<E>(req: unknown, entity: E): Promise<E> {
  return pass(req, entity);
}

@rest({
  route: "/old",
  methods: [one(), update({ preSave })],
  schemaOptions: { collection: "old" },
})
class Old extends Fields {
  @rest({ methods: [update({ preSave })] })
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

/** Stores an entity as it was before its fields existed, sends patches at once, and gives the statuses. */
async function race({ patch }: Client, patches: object[], part = "") {
  const { collection } = getModel(Old);
  await collection.deleteMany({});
  const element = { _id: new (getModel(Old).base.Types.ObjectId)(), name: "e" };
  const old = { name: "n", __v: 0, inner: { name: "i" }, inners: [element] };
  const { insertedId } = await collection.insertOne(old as never);
  pass = gate(patches.length);
  const at = `/old/${insertedId}${part && `${part}/${element._id}`}`;
  const replies = await Promise.all(patches.map((body) => patch(at, body)));
  const [left] = await collection.find().toArray() as unknown as Record<string, unknown>[];
  return { statuses: replies.map(({ status }) => status), replies, left, element };
}

test("update() writes no default that an entity only shows, and shows it", async () => {
  await using app = await mount([Old]);
  const { replies: [reply], left } = await race(app, [{ name: "m", inner: { name: "j" } }]);
  const { _id, inners: _inners, ...stored } = left ?? {};
  assertEquals(stored, { name: "m", __v: 1, inner: { name: "j" } });
  const read = await app.get<EntityBody>(`/old/${_id}`);
  for (const { body } of [reply ?? read, read]) {
    const { status, tags, inner, filled } = body as unknown as Fields;
    assertEquals([status, tags, inner?.status], ["draft", [], "draft"]);
    assertEquals([filled?.name, filled?.status], ["default", "draft"]);
  }
});

test("update() loses no concurrent update to a default that another one shows", async () => {
  await using app = await mount([Old]);
  for (let round = 0; round < 5; round++) {
    const patches = [{ name: "m" }, { status: "done" }, { inner: { status: "done" } }];
    const { statuses, left } = await race(app, patches);
    assertEquals(statuses, [200, 200, 200]);
    assertEquals([left?.name, left?.status, left?.inner], ["m", "done", {
      name: "i",
      status: "done",
    }]);
  }
});

test("update() of an element loses none to a default that another one shows", async () => {
  await using app = await mount([Old]);
  for (let round = 0; round < 5; round++) {
    const patches = [{ name: "f" }, { status: "done" }];
    const { statuses, left, element } = await race(app, patches, "/inners");
    assertEquals(statuses, [200, 200]);
    assertEquals(left?.inners, [{ ...element, name: "f", status: "done" }]);
  }
});

test("update() answers no 409 where a stored entity lacks its array", async () => {
  await using app = await mount([Old]);
  const patches = Array.from(
    { length: 15 },
    (_, index) => ({ [index % 2 ? "name" : "status"]: "x" }),
  );
  const { statuses, left } = await race(app, patches);
  assertEquals(statuses, Array(15).fill(200));
  assertEquals([left?.__v, left?.tags], [15, undefined]);
});

test("update() writes an object that is only shown as a whole when it changes inside", async () => {
  await using app = await mount([Old]);
  const { left } = await race(app, [{ filled: { status: "done" } }]);
  const { name, status } = left?.filled as Inner;
  assertEquals([name, status, left?.status, left?.__v], ["default", "done", undefined, 1]);
});

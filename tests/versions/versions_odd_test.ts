import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

class Item extends FrameworkModel {
  @prop()
  text?: string;
}

/** Hides the version in the document itself. */
function hide<E extends object>(_req: unknown, entity: E): E {
  return Object.assign(entity, { __v: undefined });
}

const PLAIN = [one(), update(), remove()];

@rest({ route: "/plain", methods: PLAIN })
@rest({
  route: "/fetched",
  methods: [one({ postFetch: hide }), update({ postFetch: hide }), remove({ postFetch: hide })],
})
@rest({
  route: "/named",
  methods: [
    one({
      fetch: ({ params }) => getModel(Cart).findOne({ text: String(params.id) }).select("text"),
    }),
  ],
})
@rest({ route: "/sent", methods: [one({ preSend: hide }), update({ preSend: hide }), remove()] })
class Cart extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: PLAIN })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
}

const versioned = { versionKey: "rev" } as const;

@rest({ route: "/unselected", methods: PLAIN })
@rest({ route: "/unselected-hooked", methods: [one({ postFetch: pass }), update(), remove()] })
class Unselected extends FrameworkModel {
  static override schemaOptions = versioned;
  @prop({ type: Number, select: false })
  rev?: number;
  @prop()
  text?: string;
}

@rest({ route: "/secret", methods: PLAIN })
@rest({
  route: "/secret-lean",
  methods: [one({ postFetch: pass, lean: true }), update(), remove()],
})
class Secret extends FrameworkModel {
  static override schemaOptions = versioned;
  @prop({ type: Number, hidden: true })
  rev?: number;
  @prop()
  text?: string;
}

/** Stores an entity as others might. */
async function store(target: typeof FrameworkModel, stored: object): Promise<string> {
  const model = getModel(target as typeof Cart);
  return String((await model.collection.insertOne(stored as never)).insertedId);
}

function ifMatch(tag: string | null) {
  return { headers: { "if-match": tag ?? "" } };
}

/** Reads an entity, changes it twice and removes it, each time with the tag of the answer before. */
async function checkTags(app: Client, path: string): Promise<void> {
  const read = await app.get(path);
  const first = await app.patch(path, { text: "b" }, ifMatch(read.headers.get("etag")));
  assertEquals(first.status, 200, path);
  const second = await app.patch(path, { text: "c" }, ifMatch(first.headers.get("etag")));
  assertEquals(second.status, 200, path);
  assertEquals((await app.patch(path, {}, ifMatch(first.headers.get("etag")))).status, 412, path);
  assertEquals((await app.delete(path, ifMatch(second.headers.get("etag")))).status, 204, path);
}

test("a version that hooks hide in the document is in its tags", async () => {
  await using app = await mount([Cart]);
  for (const route of ["plain", "fetched", "sent"]) {
    const _id = new mongoose.Types.ObjectId();
    const id = await store(Cart, { __v: 3, items: [{ _id }] });
    await checkTags(app, `/${route}/${id}/items/${_id}`);
    await checkTags(app, `/${route}/${id}`);
  }
});

test("a version that is not selected, or hidden, is in the tags", async () => {
  await using app = await mount([Unselected, Secret]);
  for (const route of ["unselected", "unselected-hooked"]) {
    await checkTags(app, `/${route}/${await store(Unselected, { rev: 3 })}`);
  }
  for (const route of ["secret", "secret-lean"]) {
    await checkTags(app, `/${route}/${await store(Secret, { rev: 3 })}`);
  }
});

test("the version of a parent is read where its fetch hook leaves it out, whatever names it", async () => {
  await using app = await mount([Cart]);
  const _id = new mongoose.Types.ObjectId();
  await store(Cart, { __v: 3, text: "mine", items: [{ _id }] });
  await checkTags(app, `/named/mine/items/${_id}`);
});

test("If-Match holds where an object is stored in the place of a list", async () => {
  await using app = await mount([Cart]);
  const _id = new mongoose.Types.ObjectId();
  const id = await store(Cart, { __v: 3, items: { _id } });
  await checkTags(app, `/plain/${id}/items/${_id}`);
});

/** Saves an entity once more, in its next version. */
async function saveAgain<E extends object>(_req: unknown, entity: E): Promise<E> {
  await (entity as mongoose.Document).increment().save();
  return entity;
}

test("a tag is of the version that a preSend hook has saved", async () => {
  const preSend = saveAgain;
  @rest({ route: "/seen", methods: [one({ preSend }), create({ preSend }), update({ preSend })] })
  class Seen extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mount([Seen]);
  const { _id } = await app.created("/seen", { text: "a" });
  for (const [method, body] of [["GET"], ["PATCH", { text: "b" }], ["PATCH", { text: "b" }]]) {
    const { headers } = await app.send(method as string, `/seen/${_id}`, { body });
    const stored = await getModel(Seen).findById(_id).lean() as { __v?: number };
    assertEquals(headers.get("etag")?.split(".")[0], `"${stored.__v}`, `${method}`);
  }
});

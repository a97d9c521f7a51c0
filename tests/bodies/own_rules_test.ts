// What users put beside fields runs, though a request could do without documents.
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  x?: string;
}

/** Makes a model with a thing of the user's own in it. */
function made(configure: (schema: Schema) => void): ModelClass {
  @rest({ route: "/made", methods: [all(), one(), create(), update(), remove()] })
  class Made extends FrameworkModel {
    static override configure = configure;
    @prop()
    a?: string;
    @prop({ type: Inner })
    inner?: Inner;
  }
  return Made;
}

/** Updates and removes an entity; gives the statuses, and what is left of it in between and after. */
async function change(target: ModelClass, body: object) {
  await using app = await mount([target], { onError: () => {} });
  const { collection } = getModel(target);
  const { insertedId } = await collection.insertOne(
    { a: "1", inner: { x: "1" }, __v: 0 } as never,
  );
  const url = `/made/${insertedId}`;
  const patched = await app.patch(url, body);
  const between = await collection.findOne({ _id: insertedId }) as unknown as EntityBody;
  const removed = await app.delete(url);
  const after = await collection.findOne({ _id: insertedId }) as unknown as EntityBody | null;
  return { patched: patched.status, removed: removed.status, between, after };
}

function innerSchema(schema: Schema): Schema {
  return (schema.path("inner") as unknown as { schema: Schema }).schema;
}

test("update() runs middleware of what an entity embeds", async () => {
  const { patched, between } = await change(
    made((schema) => {
      innerSchema(schema).pre("save", function () {
        this.set("x", "hook");
      });
    }),
    { a: "2" },
  );
  assertEquals([patched, (between.inner as EntityBody).x], [200, "hook"]);
});

test("update() runs validators of what an entity embeds, that may look at the entity", async () => {
  const target = made((schema) => {
    innerSchema(schema).path("x").validate(function (this: unknown) {
      const doc = this as { ownerDocument(): { a?: string } };
      return doc.ownerDocument().a !== "forbidden";
    });
  });
  const { patched, between } = await change(target, { a: "forbidden" });
  assertEquals([patched, between.a], [400, "1"]);
});

test("update() waits for validators that take their time, whatever kind they are said to be", async () => {
  const target = made((schema) => {
    schema.path("a").validate((value: unknown) => Promise.resolve(value !== "bad"), "no", "regexp");
  });
  const { patched, between } = await change(target, { a: "bad" });
  assertEquals([patched, between.a], [400, "1"]);
});

test("update() and remove() obey the kinds of a model", async () => {
  const target = made((schema) => {
    const kind = new mongoose.Schema({ a: { type: String, minLength: 5 } });
    kind.pre("deleteOne", { document: true, query: false }, () => {
      throw new Error("Not this kind");
    });
    schema.discriminator("Kind", kind);
  });
  await using app = await mount([target], { onError: () => {} });
  const { collection } = getModel(target);
  const { insertedId } = await collection.insertOne({ __t: "Kind", a: "12345" } as never);
  const url = `/made/${insertedId}`;
  assertEquals((await app.patch(url, { a: "2" })).status, 400);
  assertEquals((await app.delete(url)).status, 500);
  assertEquals((await collection.findOne({}) as unknown as EntityBody)?.a, "12345");
});

test("remove() runs middleware of what an entity embeds", async () => {
  const target = made((schema) => {
    innerSchema(schema).pre("deleteOne", { document: true, query: false }, () => {
      throw new Error("Not with this in it");
    });
  });
  const { removed, after } = await change(target, { a: "2" });
  assertEquals([removed, after?.a], [500, "2"]);
});

test("reads and creates obey defaults and casts that configure() sets", async () => {
  const target = made((schema) => {
    schema.add({ tags: [String], count: { type: Number, default: 0 }, cast: Number });
    schema.path("tags").default(() => ["x"]);
    schema.path("count").default(function (this: { a?: string }) {
      return this.a === "1" ? 11 : 22;
    });
    (schema.path("cast") as unknown as { castFunction(cast: unknown): void })
      .castFunction((value: unknown) => Number(value) + 1);
  });
  await using app = await mount([target]);
  await getModel(target).collection.insertOne({ a: "1", cast: 3 } as never);
  const { body: [listed] } = await app.get<EntityBody[]>("/made");
  assertEquals([listed?.tags, listed?.count, listed?.cast], [["x"], 11, 4]);
  const url = "/made";
  const added = await app.post(url, { a: "1" });
  assertEquals(added.body.tags, ["x"]);
});

@rest({ route: "/filled", methods: [create()] })
class Filled extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ required: true, trim: true })
  trimmed!: string;
}

test("required refuses an empty text and accepts spaces, which trim makes an empty text", async () => {
  await using app = await mount([Filled]);
  const send = (text: string, trimmed: string) => app.post<ErrorBody>("/filled", { text, trimmed });
  assertEquals((await send("   ", " a ")).status, 201);
  const { status, body } = await send("", "   ");
  assertEquals([status, Object.keys(body.errors ?? {}).sort()], [400, ["text", "trimmed"]]);
});

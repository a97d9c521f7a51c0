import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  create,
  FrameworkModel,
  getModel,
  type ModelClass,
  prop,
  rest,
  update,
} from "../../mod.ts";
import type { QueryObject } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const ID = new mongoose.Types.ObjectId("65a1b2c3d4e5f60718293a4b");

/** Makes a model of its own with free-form fields, bound by a scope. */
function scoped(scope: QueryObject): ModelClass {
  const collection = `equal_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/items",
    methods: [create(), update()],
    scope: () => scope,
    schemaOptions: { collection, autoCreate: false, autoIndex: false },
  })
  class Equal extends FrameworkModel {
    @prop({ type: Object })
    free?: object;
    @prop()
    name?: string;
  }
  return Equal;
}

/** Scopes on a free-form field, and values that are equal to them in JavaScript alone. */
const UNEQUAL: [string, QueryObject, unknown][] = [
  ["a text of an identifier", { free: ID }, ID.toHexString()],
  ["a text in capitals", { free: ID }, ID.toHexString().toUpperCase()],
  ["a text under $and", { $and: [{ free: ID }] }, ID.toHexString()],
  ["a key with a dot", { "free.a": 1 }, { a: "1" }],
  ["a text of a number", { free: 5 }, "5"],
  ["a number of a boolean", { free: true }, 1],
];

test("scope on a free-form field takes nothing for equal that the database tells apart", async (t) => {
  for (const [name, scope, free] of UNEQUAL) {
    await t.step(name, async () => {
      const model = scoped(scope);
      await using app = await mount([model]);
      const { collection } = getModel(model);
      const inside = scope["free.a"] === 1 ? { a: 1 } : (scope.free ?? ID);
      const { insertedId } = await collection.insertOne({ free: inside, __v: 0 } as never);
      const created = await app.post("/items", { free });
      const url = `/items/${insertedId}`;
      const updated = await app.patch(url, { free });
      assertEquals([created.status, updated.status], [403, 403]);
      const named = await app.patch(url, { name: "n" });
      assertEquals([named.status, await collection.countDocuments()], [200, 1], named.text);
    });
  }
});

import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose, { type Schema } from "mongoose";
import { create, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

@rest({
  route: "/users",
  methods: [create(), update()],
  // A model is compiled, and its indexes are built, when it is first asked for.
  getConnection: () => mongoose.connection,
  schemaOptions: { collection: "partly", autoCreate: false },
})
class User extends FrameworkModel {
  @prop()
  email?: string;
  @prop({ type: Boolean })
  isActive?: boolean;
  @prop({ type: Number })
  level?: number;
  @prop()
  note?: string;

  static override configure(schema: Schema): void {
    const partialFilterExpression = { isActive: true, $and: [{ level: { $gt: 1 } }] };
    schema.index({ email: 1 }, { unique: true, partialFilterExpression });
  }
}

test("a write that may bring an entity into a unique index that is not built is a 503", async () => {
  using _log = stub(console, "warn");
  await using app = await mount([User], { onError: () => {} });
  const stored = mongoose.connection.collection("partly");
  const active = { isActive: true, level: 2, email: "a" };
  await stored.insertMany([{ ...active }, { ...active }]);
  const { insertedId } = await stored.insertOne({ email: "a" });
  await getModel(User).init().catch(() => {});
  const path = `/users/${insertedId}`;
  for (const body of [{ isActive: true }, { level: 3 }, { email: "b" }]) {
    assertEquals((await app.patch(path, body)).status, 503, JSON.stringify(body));
    assertEquals((await app.post("/users", body)).status, 503, JSON.stringify(body));
  }
  assertEquals((await app.patch(path, { note: "n" })).status, 200);
  assertEquals((await app.post("/users", { note: "n" })).status, 201);
});

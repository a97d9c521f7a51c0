import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  replace,
  rest,
} from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

const isGuest = (req: FrameworkRequest) => req.headers["x-role"] !== "admin";

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ readonly: isGuest })
  note?: string;
}

@rest({ route: "/fast", methods: [replace({ by: "slug" })] })
@rest({ route: "/slow", methods: [replace({ by: "slug", preSend: pass }), one()] })
class Ticket extends FrameworkModel {
  @prop({ unique: true })
  slug!: string;
  @prop()
  text?: string;
  @prop({ default: "open", readonly: isGuest })
  state?: string;
  @prop({ default: "none", hidden: isGuest })
  salary?: string;
  @prop({ type: Inner })
  inner?: Inner;
}

const admin = { headers: { "x-role": "admin" } };
const stored = async () => {
  const { _id, __v, ...values } = Object(await getModel(Ticket).collection.findOne());
  return values;
};

test("a reader replaces what he may set, and leaves what he may not", async () => {
  await using app = await mount([Ticket]);
  for (const path of ["/fast/k", "/slow/k"]) {
    await getModel(Ticket).collection.deleteMany({});
    const all = { text: "a", state: "closed", salary: "5", inner: { text: "a", note: "a" } };
    assertEquals((await app.put(path, all, admin)).status, 201);
    assertEquals(await stored(), { slug: "k", ...all }, path);
    for (
      const body of [{}, { state: "x", salary: "x" }, { state: null, salary: null, inner: null }]
    ) {
      const { status, body: { state, salary, text } } = await app.put(path, body);
      assertEquals([status, state, salary, text], [200, "closed", undefined, undefined], path);
      const left = { state: "closed", salary: "5", inner: { note: "a" } };
      assertEquals(await stored(), { slug: "k", ...left }, path);
    }
    await app.put(path, { inner: { text: "b", note: "b" } });
    assertEquals((await stored()).inner, { text: "b", note: "a" });
    assertEquals((await app.put(path, {}, admin)).body.salary, "none");
    assertEquals(await stored(), { slug: "k", state: "open", salary: "none" }, path);
  }
});

test("a new entity has the defaults of what its creator may not set", async () => {
  await using app = await mount([Ticket]);
  for (const path of ["/fast/k", "/slow/k"]) {
    await getModel(Ticket).collection.deleteMany({});
    const { status } = await app.put(path, { text: "a", state: "closed", salary: "5" });
    assertEquals(status, 201);
    assertEquals(await stored(), { slug: "k", text: "a", state: "open", salary: "none" }, path);
  }
});

test("a replacement is one statement for whom nothing in an object has to stay", async () => {
  await using app = await mount([Ticket]);
  await getModel(Ticket).init();
  await app.put("/fast/warm", {});
  const sent = await watchCommands(app.database.uri);
  await getModel(Ticket).init();
  for (const options of [{}, admin]) {
    await app.put("/fast/warm", {}, options);
    sent.length = 0;
    for (const body of [{ text: "a" }, { text: "b" }]) await app.put("/fast/k", body, options);
    const names = sent.map(({ name }) => name);
    const expected = options === admin
      ? ["findAndModify", "findAndModify"]
      : ["find", "insert", "find", "findAndModify"];
    assertEquals(names, expected);
  }
});

@rest({ route: "/nested", methods: [replace(), one()] })
class Nested extends FrameworkModel {
  static override configure(schema: Schema) {
    schema.add({ nested: { a: { type: Number, default: 1 }, b: Number } });
  }
  @prop()
  text?: string;
}

test("fields of dotted paths get their defaults", async () => {
  await using app = await mount([Nested]);
  const { body } = await app.put("/nested/aaaaaaaaaaaaaaaaaaaaaaaa", { text: "x" });
  assertEquals(body.nested, { a: 1 });
});

// Runs alone: it changes Mongoose.
import { assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { all, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const MARK = Symbol.for("mongoose:built-in-middleware");

/** Makes this Mongoose one that does not mark its own middleware. */
function unmark(): void {
  const schema = new mongoose.Schema({}, { timestamps: true });
  new mongoose.Mongoose().model("Bare", schema as Schema);
  const { _pres, _posts } =
    (schema as unknown as { s: { hooks: Record<string, Map<string, { fn: object }[]>> } }).s.hooks;
  for (const { fn } of [_pres, _posts].flatMap((kind) => [...kind?.values() ?? []].flat())) {
    Reflect.deleteProperty(fn, MARK);
  }
}

unmark();

@rest({ route: "/movies", methods: [create(), one(), all(), update()] })
class Movie extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop({ required: true, trim: true })
  name!: string;
  @prop({ hidden: true, default: "SECRET" })
  secret!: string;
}

test("Framework uses documents, and logs why, when it does not recognise Mongoose", async () => {
  using log = stub(console, "warn");
  await using app = await mount([Movie]);
  const prototype = mongoose.Document.prototype as { validate(...args: unknown[]): unknown };
  const { validate } = prototype;
  using validating = stub(prototype, "validate", function (this: object, ...args) {
    return validate.apply(this, args);
  });
  const made = await app.post("/movies", { name: " A " });
  const path = `/movies/${made.body._id}`;
  const changed = await app.patch(path, { name: "B" });
  const [found, list] = [await app.get<EntityBody>(path), await app.get<EntityBody[]>("/movies")];
  assertEquals([made.body.name, changed.body.name, validating.calls.length], ["A", "B", 2]);
  assertEquals([list.body, JSON.stringify(list.body).includes("SECRET")], [[found.body], false]);
  assertEquals(log.calls.length, 1);
  assertMatch(String(log.calls[0]?.args[0]), /slower way.* recognise the middleware of schemas/);
});

import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
import { all, create, Framework, one, remove, replace, update } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const ran: string[] = [];

const schema = new mongoose.Schema({
  name: { type: String, required: true, lowercase: true, set: (name: string) => `${name}!` },
  age: { type: Number, validate: (age: number) => age < 200 },
  twice: Number,
}, { timestamps: true });
for (const name of ["validate", "save", "updateOne", "deleteOne", "findOneAndUpdate"] as const) {
  schema.pre(name as "save", function () {
    ran.push(`pre ${name} ${this.constructor.name === "Query" ? "query" : this.get("name")}`);
  });
}
schema.pre("save", async function () {
  const { length } = await (this.constructor as mongoose.Model<unknown>).find();
  this.set("twice", length * 2);
});
schema.post("save", function () {
  ran.push(
    `post save ${(this.constructor as { modelName?: string }).modelName} ${this instanceof Model}`,
  );
});
schema.static("known", () => "static");
schema.method("shout", function () {
  return `${this.get("name")} ${Reflect.apply(Reflect.get(this.constructor, "known"), null, [])}`;
});

const Model = mongoose.model("AdoptedWare", schema);
Object.assign(Model, { late: () => "assigned" });

const Ware = adopt(Model, {
  shown: "all",
  writable: ["name", "age"],
  rest: {
    route: "/adopted-wares",
    methods: [all(), one(), create(), update(), replace(), remove()],
  },
});

test("validators, setters and middleware of documents run, on documents of the model", async () => {
  await using app = await mount([Ware]);
  const first = await app.post<EntityBody>("/adopted-wares", { name: "ANN", age: 7, twice: 9 });
  assertEquals([first.status, first.body.name, first.body.twice], [201, "ann!", 0], first.text);
  assertEquals(ran.splice(0), ["pre validate ann!", "pre save ann!", "post save AdoptedWare true"]);
  const path = `/adopted-wares/${first.body._id}`;
  assertEquals((await app.patch(path, { age: 300 })).status, 400);
  assertEquals(ran.splice(0), ["pre validate ann!"]);
  const changed = await app.patch<EntityBody>(path, { age: 8 });
  assertEquals([changed.status, changed.body.twice], [200, 2], changed.text);
  assert(ran.splice(0).includes("post save AdoptedWare true"));
  assertEquals((await app.put(path, { name: "Bea" })).status, 200);
  assert(ran.splice(0).includes("pre save bea!"));
  assertEquals((await app.delete(path)).status, 204);
  assertEquals(ran.filter((each) => /deleteOne/.test(each)).length, 1, ran.join());
});

test("the start tells in the log which middleware never runs, and names shown secrets", () => {
  using log = stub(console, "warn");
  const other = new mongoose.Schema({
    name: { type: String, unique: true, required: true },
    org: String,
    hash: String,
    deep: [{ apiToken: String }],
  });
  other.index({ org: 1, hash: 1 }, { unique: true });
  other.post(/^findOneAnd/, () => {});
  const target = adopt(mongoose.model("AdoptedIdle", other), {
    shown: "all",
    writable: "all",
    rest: { route: "/adopted-idle", tenant: "org", methods: [one()] },
  });
  Framework.initialize({ models: [target], tenant: () => "a", tidy: false });
  const idle = ["findOneAndUpdate()", "findOneAndReplace()", "findOneAndDelete()"].join(", ");
  assertEquals(log.calls.map(({ args }) => args[0]), [
    '"name" of "AdoptedIdle" is unique over all tenants: begin the index with "org"',
    '"AdoptedIdle" shows "hash", "deep.apiToken", because "shown" is "all": list the paths if clients must not see it',
    `"AdoptedIdle" has middleware of ${idle}, which no request runs: use hooks, or middleware of documents`,
  ]);
});

test("the start tells in the log that update() saves documents", () => {
  using log = stub(console, "warn");
  const saved = new mongoose.Schema({ name: String });
  saved.pre("updateOne", () => {});
  const target = adopt(mongoose.model("AdoptedSaved", saved), {
    shown: "all",
    writable: "all",
    rest: { route: "/adopted-saved", methods: [one(), update(), remove()] },
  });
  Framework.initialize({ models: [target], tidy: false });
  const hint = "which update() does not run: use middleware of save()";
  assertEquals(log.calls.map(({ args }) => args[0]), [
    `"AdoptedSaved" has middleware of updateOne(), ${hint}`,
  ]);
});

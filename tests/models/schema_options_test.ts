import { assert, assertEquals } from "@std/assert";
import type { Schema, SchemaOptions } from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  getModel,
  prop,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

type Json = Record<string, unknown>;

@rest({
  route: "/stamped",
  methods: [all(), create(), update()],
  schemaOptions: { timestamps: { createdAt: "born" }, toJSON: { virtuals: true } },
})
class Stamped extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.virtual("shout").get(function (this: { name: string }) {
      return this.name.toUpperCase();
    });
    schema.index({ name: 1, born: -1 });
    schema.pre("save", function () {
      this.set("name", `${this.get("name")}!`);
    });
  }
  @prop({ required: true })
  name!: string;
}

test("schemaOptions of rest() reach Mongoose, and timestamps no client", async () => {
  await using app = await mount([Stamped]);
  const old = "2000-01-01T00:00:00.000Z";
  const made = await app.created("/stamped", { name: "a", born: old, updatedAt: old });
  assert(made.born !== old && made.updatedAt !== old && made.born === made.updatedAt);
  const changed = await app.updated(`/stamped/${made._id}`, { born: old, name: "b" });
  assertEquals(changed.born, made.born);
  assert(String(changed.updatedAt) > String(made.updatedAt));
});

test("configure() adds virtuals, indexes and middleware", async () => {
  await using app = await mount([Stamped]);
  const made = await app.created("/stamped", { name: "a" });
  assertEquals([made.name, made.shout], ["a!", "A!"]);
  assertEquals(getModel(Stamped).schema.indexes()[0]?.[0], { name: 1, born: -1 });
});

test("removeAll() compares by the collation of the schema, with a trash too", async () => {
  const schemaOptions = {
    collation: { locale: "en", strength: 2 },
    writeConcern: { w: "majority" },
  };
  const methods = [all(), removeAll({ max: false })];
  class Named extends FrameworkModel {
    @prop()
    name?: string;
  }
  @rest({ route: "/gone", methods, schemaOptions: schemaOptions as SchemaOptions })
  class Gone extends Named {}
  @rest({ route: "/kept", methods, schemaOptions: schemaOptions as SchemaOptions, trash: true })
  class Kept extends Named {}
  await using app = await mount([Gone, Kept]);
  for (const [model, path] of [[Gone, "/gone"], [Kept, "/kept"]] as const) {
    // A collection that Mongoose creates has the collation itself.
    await getModel(model).init();
    const { name } = getModel(model).collection;
    await app.database.connection.dropCollection(name);
    await app.database.connection.createCollection(name);
    await getModel(model).create([{ name: "a" }, { name: "A" }, { name: "b" }]);
    assertEquals((await app.delete(`${path}?q={"name":"a"}`)).status, 204);
    assertEquals((await app.read<Json[]>(path)).map(({ name }) => name), ["b"]);
  }
});

test("configure() is called once, however often its class is mounted", async () => {
  let configured = 0;
  @rest({ route: "/configured", methods: [create()] })
  class Configured extends FrameworkModel {
    static override configure(): void {
      configured++;
    }
  }
  await using app = await mount([Configured]);
  Framework.initialize({ models: [Configured] });
  await app.created("/configured", {});
  assertEquals(configured, 1);
});

@rest({ route: "/thrown", methods: [create()], schemaOptions: { strict: "throw" } })
class Strict extends FrameworkModel {
  static override schemaOptions: SchemaOptions = { versionKey: "version", timestamps: true };
  @prop()
  name?: string;
}

test("static schemaOptions and those of rest() hold together", async () => {
  await using app = await mount([Strict]);
  const made = await app.created("/thrown", { name: "a", version: 7 });
  assertEquals([made.version, "__v" in made, "createdAt" in made], [0, false, true]);
  const reply = await app.post<{ code: string; errors: Json }>("/thrown", { name: "a", nope: 1 });
  assertEquals([reply.status, Object.keys(reply.body.errors)], [400, ["nope"]]);
});

test("rest() changes none of the options that it is given", async () => {
  const schemaOptions: SchemaOptions = Object.freeze({ timestamps: true });
  const options = { route: "/frozen/", methods: Object.freeze([all(Object.freeze({}))]) };
  @rest(Object.freeze({ ...options, schemaOptions }))
  class Frozen extends FrameworkModel {
    @prop(Object.freeze({ type: String, enum: Object.freeze(["a"]) }))
    name?: string;
  }
  await using app = await mount([Frozen]);
  assertEquals(await app.read("/frozen"), [] as unknown as Json);
});

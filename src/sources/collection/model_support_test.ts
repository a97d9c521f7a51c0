import { assertEquals, assertStrictEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { findSupport, modelSupport } from "./model_support.ts";

const connection = mongoose.createConnection();
const QUIET = { autoIndex: false, autoCreate: false };

/** The operations that need no documents, of a model with one field, after `configure` has changed it. */
function allowed(configure: (schema: Schema) => void = () => {}): string {
  class Movie extends FrameworkModel {
    static override schemaOptions = QUIET;
    static override configure = configure;
    @prop()
    name?: string;
  }
  const model = getModel(Movie, connection) as never as Model<unknown>;
  return names(modelSupport(model, describeShape(model.schema as Schema)));
}

const EVERYTHING = "reads counts inserts updates removes";

function names(support: object): string {
  return Object.entries(support).filter(([name, may]) => may && name !== "needsMongoose").map((
    [name],
  ) => name).join(" ");
}

Deno.test("modelSupport() allows everything where nothing is the user's own", () => {
  assertEquals(allowed(), EVERYTHING);
});

Deno.test("modelSupport() leaves to documents what the user's middleware sees", () => {
  assertEquals(allowed((schema) => void schema.pre("save", () => {})), "reads counts removes");
  assertEquals(
    allowed((schema) => void schema.post("updateOne", () => {})),
    "reads counts removes",
  );
  assertEquals(
    allowed((schema) => void schema.pre("deleteOne", () => {})),
    "reads counts inserts updates",
  );
  assertEquals(
    allowed((schema) => void schema.pre("countDocuments", () => {})),
    "reads inserts updates removes",
  );
  assertEquals(allowed((schema) => void schema.pre("init", () => {})), "");
});

Deno.test("modelSupport() leaves to documents what changes one way alone", () => {
  const name = (schema: Schema) => schema.path("name");
  assertEquals(
    allowed((schema) => void name(schema).default(() => "x")),
    "reads counts updates removes",
  );
  const looksAround = function (this: unknown) {
    return this !== null;
  };
  assertEquals(
    allowed((schema) => void name(schema).validate(looksAround)),
    "reads counts removes",
  );
  assertEquals(
    allowed((schema) => void name(schema).validate(() => true)),
    "reads counts inserts updates removes",
  );
  assertEquals(
    allowed((schema) => void name(schema).immutable(true)),
    "reads counts inserts updates removes",
  );
  assertEquals(
    allowed((schema) => void schema.set("toJSON", { getters: true })),
    "updates removes",
  );
});

Deno.test("findSupport() allows nothing when a schema has discriminators", () => {
  const variant = new mongoose.Schema({ other: String });
  const items = new mongoose.Schema({ a: String }, { discriminatorKey: "kind" });
  const listing = (schema: Schema) => {
    schema.add({ items: [items] });
    (schema.path("items") as mongoose.Schema.Types.DocumentArray).discriminator("B", variant);
  };
  assertEquals(allowed(listing), "");
  class Base extends FrameworkModel {
    static override schemaOptions = QUIET;
    @prop()
    name?: string;
  }
  const base = getModel(Base, connection) as never as Model<unknown>;
  const found = () => names(findSupport(base, describeShape(base.schema as Schema)));
  assertEquals(found(), EVERYTHING);
  base.discriminator("Variant", variant.clone());
  assertEquals(found(), "");
});

Deno.test("modelSupport() looks at a model once", () => {
  const model = connection.model("Once", new mongoose.Schema({ name: String }, QUIET));
  const shape = describeShape(model.schema as Schema);
  const support = modelSupport(model as never, shape);
  model.schema.pre("find", () => {});
  assertStrictEquals(modelSupport(model as never, shape), support);
});

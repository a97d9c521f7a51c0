import { assertEquals, assertNotEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { FLAT, FlatMovie } from "../../../tests/fixtures/flat_movie.ts";
import { prop } from "../../declare/decorators/prop.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { modelSupport } from "./model_support.ts";

const connection = mongoose.createConnection();

/** The entity that is made of a body without a document. */
function flat(target: ModelClass, body: object): Record<string, unknown> | undefined {
  const shape = describeShape(buildSchema(target).schema);
  return modelSupport(getModel(target, connection) as never, shape).inserts?.make(body as never);
}

/** Makes a class with one thing in it that could need the document. */
function made(options: object, configure: (schema: Schema) => void = () => {}): ModelClass {
  class Made extends FrameworkModel {
    static override schemaOptions = { autoIndex: false, autoCreate: false };
    static override configure = configure;
    @prop(options)
    name?: string;
    @prop()
    other?: string;
  }
  return Made;
}

/** Options of a field for which no document is needed. */
const BUILT_IN = [
  { immutable: true },
  { type: String },
  { default: "x" },
  { type: Date, default: Date.now },
  { validate: (value: unknown) => value !== "x" },
];

/** A validator that may look at the other fields of a document. */
function looksAround(this: unknown): boolean {
  return this !== null;
}

const METHODS = {
  looksAround(this: unknown): boolean {
    return this !== null;
  },
  async(this: unknown): boolean {
    return this !== null;
  },
};

/** Options of a field that run code of the application, or that only a document knows. */
const OWN = [
  { default: () => "x" },
  { validate: looksAround },
  { validate: METHODS.looksAround },
  { validate: METHODS.async },
  { set: (value: unknown) => value },
  { required: () => true },
];

/** Changes of a schema that only a document knows. */
const CONFIGURED: ((schema: Schema) => unknown)[] = [
  (schema) => schema.path("name").validate(looksAround),
  (schema) => schema.path("name").set((value: unknown) => value),
  (schema) => schema.path("name").default(() => "x"),
  (schema) => schema.pre("save", () => {}),
  (schema) => schema.post("validate", () => {}),
  (schema) => schema.pre("init", () => {}),
  (schema) => schema.set("versionKey", false),
  (schema) => schema.set("strict", "throw"),
  (schema) => schema.set("timestamps", { currentTime: () => 5 }),
  (schema) => schema.add({ deep: { inner: String } }),
  (schema) => schema.path("name").validate(looksAround, "no", "enum"),
  (schema) => schema.path("name").validate(looksAround, "no", "regexp"),
  (schema) => schema.path("_id").default(() => "made up"),
  (schema) => schema.method("own", () => {}).queue("own", []),
  (schema) => schema.discriminator("Kind", new mongoose.Schema({})),
  (schema) =>
    schema.set("timestamps", true).add({ createdAt: { type: Date, default: new Date(5) } }),
  (schema) => schema.add({ list: [String] }).path("list").default(["x"]),
  (schema) => schema.add({ inner: new mongoose.Schema({ a: String }).pre("save", () => {}) }),
  (schema) =>
    schema.add({ inners: [new mongoose.Schema({ a: { type: String, validate: looksAround } })] }),
];

Deno.test("modelSupport() leaves inserts to a document where something may look at one", () => {
  const other = { other: "x" };
  for (const options of BUILT_IN) assertNotEquals(flat(made(options), other), undefined);
  for (const options of OWN) assertEquals(flat(made(options), other), undefined);
  for (const configure of CONFIGURED) {
    const target = made({ type: String }, (schema) => void configure(schema));
    assertEquals(flat(target, other), undefined, String(configure));
  }
});

Deno.test("modelSupport() makes entities of bodies that need no document", () => {
  for (const body of FLAT) {
    assertNotEquals(flat(FlatMovie, body), undefined, JSON.stringify(body));
  }
});

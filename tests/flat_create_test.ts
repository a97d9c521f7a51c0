import { Buffer } from "node:buffer";
import { assertEquals, assertNotEquals } from "@std/assert";
import type { Schema } from "mongoose";
import mongoose from "mongoose";
import { arrayProp, create, FrameworkModel, getModel, one, prop, rest } from "../mod.ts";
import type { ModelClass } from "../mod.ts";
import { buildSchema } from "../src/schema/build_schema.ts";
import { describeShape } from "../src/schema/fields/shape.ts";
import { flatEntity } from "../src/sources/direct/writes/flat_entity.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "./support.ts";
import { pass } from "./both_paths.ts";

class Part extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "part" })
  name?: string;
}

@rest({ route: "/fast", methods: [create(), one()] })
@rest({ route: "/slow", methods: [create({ preSend: pass }), one()] })
class Movie extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop({ required: true })
  name!: string;
  @prop({ type: Number, min: 1888, default: 2000 })
  year?: number;
  @prop({ trim: true, lowercase: true, minLength: 2, match: /^[a-z]+$/ })
  code?: string;
  @prop({ enum: ["good", "bad"], default: "good" })
  rating?: string;
  @prop({ uppercase: true, default: "abc" })
  loud?: string;
  @arrayProp({ items: String, lowercase: true, enum: ["a", "b"] })
  tags?: string[];
  @arrayProp({ items: Number, min: 2 })
  numbers?: number[];
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @prop({ type: Part })
  part?: Part;
  @prop({ type: Map, of: String })
  labels?: Map<string, string>;
  @prop({ type: Date, default: new Date(5) })
  date?: Date;
  @prop({ type: Boolean, default: false })
  seen?: boolean;
  @prop({ type: Number, default: null })
  nothing?: number | null;
  @prop({ type: BigInt, default: 5n })
  big?: bigint;
  @prop({ type: mongoose.Types.Decimal128, default: mongoose.Types.Decimal128.fromString("1.50") })
  price?: mongoose.Types.Decimal128;
  @prop({ type: mongoose.Types.UUID })
  uuid?: mongoose.Types.UUID;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ ref: () => Movie })
  sequel?: string;
  @prop({ unique: true, sparse: true })
  slug?: string;
  @prop({ hidden: true, minLength: 3, default: "SECRET" })
  secret?: string;
  @prop({ readonly: true, default: "nobody" })
  owner?: string;
  @prop({ type: Object })
  free?: object;
}

/** What {@linkcode flatEntity} makes of a body. */
function flat(target: ModelClass, body: object): Record<string, unknown> | undefined {
  const shape = describeShape(buildSchema(target).schema);
  return flatEntity(getModel(target) as never, body as never, shape);
}

/** An answer and what is stored after it, without what differs from one creation to the next. */
async function created(url: string, path: string, body: unknown) {
  const movies = getModel(Movie).collection;
  await movies.deleteMany({ slug: { $ne: "taken" } });
  const reply = await request<EntityBody>(`${url}/${path}`, { method: "POST", body });
  const stored = await movies.findOne({ slug: { $ne: "taken" } });
  const { _id, createdAt, updatedAt, ...shown } = reply.body;
  if (reply.status === 201) {
    assertEquals(createdAt, updatedAt);
    assertEquals(String(createdAt), (stored?.createdAt as Date).toISOString());
    assertEquals(reply.headers.get("location"), `/${path}/${_id}`);
    assertEquals((await request(`${url}/${path}/${_id}`)).body, reply.body);
  }
  return { status: reply.status, shown, stored: stored && entries(stored) };
}

/** The values of a document, in whatever order, with their types. */
function entries(document: object): string[] {
  const { _id, createdAt, updatedAt, ...values } = document as EntityBody;
  assertNotEquals([_id, createdAt, updatedAt].includes(undefined), true);
  return Object.entries(values)
    .map(([name, value]) => mongoose.mongo.BSON.EJSON.stringify([name, value], { relaxed: false }))
    .sort();
}

/** Bodies that need no document. */
const FLAT: object[] = [
  { name: "Up" },
  { name: "  x  ", year: "1999", code: "  ABC ", rating: "bad", loud: "x" },
  { name: "a", tags: [" A ".trim(), "b"], numbers: [2, "3", null] },
  { name: "a", tags: [], numbers: [] },
  { name: "a", date: "2020-01-01", seen: "yes", big: "9007199254740993", price: "2.50" },
  { name: "a", uuid: "01234567-89ab-4def-8123-456789abcdef", sequel: "aaaaaaaaaaaaaaaaaaaaaaaa" },
  { name: "a", bytes: "AAEC", secret: "other" },
  { name: "a", nosuch: 1, owner: "me", _id: "aaaaaaaaaaaaaaaaaaaaaaaa", __v: 9, createdAt: 5 },
  { name: "$year", slug: "$a.b" },
  { name: "a", "na.me": 1, "$set": { name: "b" } },
];

/** Bodies that take one, valid or not. */
const OTHERS: object[] = [
  {},
  { name: "" },
  { name: null },
  { name: "a", year: null },
  { name: "a", year: 5 },
  { name: "a", year: "x" },
  { name: "a", code: "A" },
  { name: "a", rating: "ugly" },
  { name: "a", tags: ["c"] },
  { name: "a", tags: "a" },
  { name: "a", numbers: [1] },
  { name: "a", parts: [{}] },
  { name: "a", part: {} },
  { name: "a", labels: { x: "y" } },
  { name: "a", free: { a: 1 } },
  { name: "a", secret: "x" },
];

test("create() stores and answers without a document what it does with one", async () => {
  await using app = await mount([Movie]);
  for (const body of FLAT) {
    assertNotEquals(flat(Movie, body), undefined, JSON.stringify(body));
    const fast = await created(app.url, "fast", body);
    assertEquals(fast, await created(app.url, "slow", body), JSON.stringify(body));
    assertEquals([fast.status, JSON.stringify(fast.shown).includes("SECRET")], [201, false]);
  }
});

test("create() takes a document for other bodies, and answers the same", async () => {
  await using app = await mount([Movie]);
  for (const body of OTHERS) {
    assertEquals(flat(Movie, body), undefined, JSON.stringify(body));
    const fast = await created(app.url, "fast", body);
    assertEquals(fast, await created(app.url, "slow", body), JSON.stringify(body));
  }
});

test("create() tells a conflict with or without a document", async () => {
  await using app = await mount([Movie]);
  await getModel(Movie).createIndexes();
  await getModel(Movie).collection.insertOne({ slug: "taken" });
  const body = { name: "a", slug: "taken" };
  for (const path of ["fast", "slow"]) {
    const reply = await request<ErrorBody>(`${app.url}/${path}`, { method: "POST", body });
    assertEquals([reply.status, reply.body.fields], [409, ["slug"]]);
  }
});

/** Makes a class with one thing in it that could need the document. */
function made(options: object, configure: (schema: Schema) => void = () => {}): ModelClass {
  class Made extends FrameworkModel {
    static override configure = configure;
    @prop(options)
    name?: string;
    @prop()
    other?: string;
  }
  rest({ route: "/made", methods: [create()] })(
    Made as never,
    { kind: "class", name: "Made", metadata: Made[Symbol.metadata], addInitializer() {} } as never,
  );
  return Made;
}

test("flatEntity() leaves to a document whatever may look at one", () => {
  const name = (schema: Schema) => schema.path("name");
  const plain = [
    made({ type: String }),
    made({ default: "x" }),
    made({ type: Date, default: Date.now }),
  ];
  const own = [
    made({ default: () => "x" }),
    made({ validate: () => true }),
    made({ set: (value: unknown) => value }),
    made({ immutable: true }),
    made({ required: () => true }),
    made({ type: String }, (schema) => void name(schema).validate(() => true)),
    made({ type: String }, (schema) => void name(schema).set((value: unknown) => value)),
    made({ type: String }, (schema) => void name(schema).immutable(true)),
    made({ type: String }, (schema) => void name(schema).default(() => "x")),
    made({ type: String }, (schema) => void schema.pre("save", () => {})),
    made({ type: String }, (schema) => void schema.post("validate", () => {})),
    made({ type: String }, (schema) => void schema.pre("init", () => {})),
    made({ type: String }, (schema) => void schema.method("save", () => {})),
    made({ type: String }, (schema) => void schema.set("versionKey", false)),
    made({ type: String }, (schema) => void schema.set("strict", "throw")),
    made({ type: String }, (schema) => void schema.set("timestamps", { currentTime: () => 5 })),
    made({ type: String }, (schema) => void schema.add({ deep: { inner: String } })),
    made(
      { type: String },
      (schema) => void name(schema).validate((value: unknown) => value !== "x", "no", "enum"),
    ),
    made({ type: String }, (schema) => void schema.path("_id").default(() => "made up")),
    made({ type: String }, (schema) => void schema.method("set", () => {})),
    made({ type: String }, (schema) => void schema.queue("set", ["name", "queued"])),
    made({ type: String }, (schema) => void schema.discriminator("Kind", new mongoose.Schema({}))),
    made({ type: String }, (schema) => {
      schema.set("timestamps", true);
      schema.add({ createdAt: { type: Date, default: new Date(5) } });
    }),
    made(
      { type: String },
      (schema) => void schema.add({ list: [String] }).path("list").default(["x"]),
    ),
    made({ type: String }, (schema) => {
      const inner = new mongoose.Schema({ a: String });
      inner.pre("save", () => {});
      schema.add({ inner });
    }),
    made({ type: String }, (schema) => {
      const inner = new mongoose.Schema({ a: { type: String, validate: () => true } });
      schema.add({ inners: [inner] });
    }),
  ];
  assertEquals(plain.map((target) => flat(target, { other: "x" }) !== undefined), [
    true,
    true,
    true,
  ]);
  assertEquals(own.map((target) => flat(target, { other: "x" })), own.map(() => undefined));
});

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Schema, Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

type Json = Record<string, unknown>;

enum Genre {
  Comedy = "comedy",
  Drama = "drama",
}
enum Level {
  Low = 1,
  High = 10,
  Below = -1,
}

class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
  @prop({ hidden: true })
  code?: string;
}

@rest({ route: "/kinds", methods: [all(), one(), create(), update()] })
class Kind extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Types.ObjectId })
  id1?: Types.ObjectId;
  @prop({ type: Schema.Types.ObjectId })
  id2?: string;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Schema.Types.Mixed })
  mixed?: object;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Address })
  address?: Address;
  @prop({ type: () => Address })
  second?: Address;
  @prop()
  type?: string;
  @arrayProp({ items: Number })
  numbers?: number[];
  @arrayProp({ items: Date })
  dates?: Date[];
  @arrayProp({ items: Object })
  frees?: object[];
  @arrayProp({ items: () => Address, embedded: true })
  addresses?: Address[];
}

test("prop() stores each type as what it says", async () => {
  await using app = await mount([Kind]);
  const body = {
    text: "a",
    number: 1.5,
    flag: false,
    at: "2020-01-02T03:04:05.678Z",
    id1: "0123456789abcdef01234567",
    id2: "0123456789abcdef01234568",
    free: { a: [1, { b: null }], c: "d", e: null },
    mixed: { x: true },
    map: { a: 1, b: 2 },
    type: "t",
    numbers: [1, 2],
    dates: ["2020-01-02T00:00:00.000Z"],
    frees: [{ a: 1 }, { b: 2 }],
  };
  const { _id, ...created } = await app.created("/kinds", body);
  const free = { a: [1, { b: null }], c: "d" };
  assertEquals(created, { ...body, free, addresses: [], __v: 0 });
  assertEquals(await app.read(`/kinds/${_id}`), { _id, ...created });
  const stored = await getModel(Kind).collection.findOne();
  assert(stored?.at instanceof Date && stored.dates[0] instanceof Date);
  assert(stored.id1 instanceof Types.ObjectId && stored.id2 instanceof Types.ObjectId);
  assertEquals([typeof stored.number, stored.flag, stored.map], ["number", false, body.map]);
});

test("prop() casts what JSON says to the type, and refuses what cannot be one", async () => {
  await using app = await mount([Kind]);
  const { text, number } = await app.created("/kinds", { text: 5, number: "7" });
  assertEquals([text, number], ["5", 7]);
  const bad = { number: "x", flag: "maybe", at: "never", id1: "1", map: 1, address: "a" };
  const reply = await app.post<{ code: string; errors: Json }>("/kinds", {
    ...bad,
    numbers: [1, "x"],
    text: {},
  });
  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  const paths = [...Object.keys(bad), "numbers.1", "text"].sort();
  assertEquals(Object.keys(reply.body.errors).sort(), paths);
});

test("prop() embeds a model, given as a class or as a thunk", async () => {
  await using app = await mount([Kind]);
  const address = { street: "a" };
  const made = await app.created("/kinds", {
    address,
    second: { street: "b", other: 1 },
    addresses: [address],
  });
  const street = (value: unknown) => {
    const { _id, ...others } = value as Json;
    assertMatch(String(_id), /^[0-9a-f]{24}$/);
    return others;
  };
  assertEquals(street(made.address), address);
  assertEquals(street(made.second), { street: "b" });
  assertEquals((made.addresses as unknown[]).map(street), [address]);
  const reply = await app.post<{ errors: Json }>("/kinds", { address: {}, addresses: [{}] });
  assertEquals(Object.keys(reply.body.errors).sort(), ["address.street", "addresses.0.street"]);
});

test("prop() keeps an empty object, as the answer says", async () => {
  await using app = await mount([Kind]);
  const made = await app.created("/kinds", { free: {}, map: {} });
  assertEquals([made.free, made.map], [{}, {}]);
  assertEquals(await app.read(`/kinds/${made._id}`), made);
  assertEquals(await app.read<Json[]>("/kinds"), [made]);
});

test("arrayProp() gives [] for what is not supplied, in the answer and in the database", async () => {
  await using app = await mount([Kind]);
  const { _id: _, __v: __, ...made } = await app.created("/kinds", {});
  assertEquals(made, { numbers: [], dates: [], frees: [], addresses: [] });
  assertEquals((await getModel(Kind).collection.findOne())?.numbers, []);
});

@rest({ route: "/defaults", methods: [create(), update()] })
class Default extends FrameworkModel {
  @prop({ default: "a" })
  text!: string;
  @prop({ default: 5 })
  number!: number;
  @prop({ default: 0 })
  zero!: number;
  @prop({ default: false })
  flag!: boolean;
  @prop({ default: 5n })
  big!: bigint;
  @prop({ default: new Date(0) })
  at!: Date;
  @prop({ type: Date, default: Date.now })
  now!: Date;
  @prop({ type: Number, default: () => 7 })
  made!: number;
  @prop({ type: Object, default: () => ({ a: 1 }) })
  free!: object;
  @prop({ default: null })
  none!: string | null;
  @arrayProp({ items: String, default: ["x"] })
  tags!: string[];
}

test("prop() takes the type from the default, and the default where nothing is supplied", async () => {
  await using app = await mount([Default]);
  const before = new Date().toISOString();
  const { _id, now, ...made } = await app.created("/defaults", {});
  assert(before <= String(now) && String(now) <= new Date().toISOString());
  assertEquals(made, {
    __v: 0,
    text: "a",
    number: 5,
    zero: 0,
    flag: false,
    big: 5,
    at: "1970-01-01T00:00:00.000Z",
    made: 7,
    free: { a: 1 },
    none: null,
    tags: ["x"],
  });
  const changed = await app.updated(`/defaults/${_id}`, { number: "6", flag: true, tags: [] });
  assertEquals([changed.number, changed.flag, changed.tags], [6, true, []]);
  const reply = await app.post("/defaults", { number: "x" });
  assertEquals(reply.status, 400);
});

test("prop() gives each entity a default of its own", async () => {
  await using app = await mount([Default]);
  const { _id } = await app.created("/defaults", {});
  await app.updated(`/defaults/${_id}`, { free: { b: 2 }, tags: ["y"] });
  const { free, tags } = await app.created("/defaults", {});
  assertEquals([free, tags], [{ a: 1 }, ["x"]]);
});

@rest({ route: "/enums", methods: [create()] })
class Enum extends FrameworkModel {
  @prop({ enum: Genre })
  genre?: Genre;
  @prop({ type: Number, enum: Level })
  level?: Level;
  @prop({ enum: ["a", "b"] })
  letter?: "a" | "b";
  @prop({ enum: { values: ["c"], message: "Only c" } })
  only?: string;
  @arrayProp({ items: String, enum: Genre })
  genres?: Genre[];
  @arrayProp({ items: Number, enum: [1, 2] })
  numbers?: number[];
}

test("prop() takes a list or a TypeScript enum, whose names are no values", async () => {
  await using app = await mount([Enum]);
  const good = { genre: "comedy", level: 10, letter: "a", genres: ["drama"], numbers: [2] };
  const { _id: _, __v: __, ...made } = await app.created("/enums", good);
  assertEquals(made, good);
  await app.created("/enums", { level: -1 });
  const bad = { genre: "Comedy", level: 5, letter: "c", genres: ["Drama"], only: "d" };
  const reply = await app.post<{ errors: Record<string, Json> }>("/enums", {
    ...bad,
    numbers: [1, 3],
  });
  const { errors } = reply.body;
  const paths = ["genre", "genres.0", "letter", "level", "numbers.1", "only"];
  assertEquals(Object.keys(errors).sort(), paths);
  assertEquals(errors.only, { message: "Only c", kind: "enum" });
});

@rest({ route: "/validated", methods: [create(), update()] })
class Validated extends FrameworkModel {
  @prop({ required: [true, "Name it"], trim: true, lowercase: true, minLength: 2, maxLength: 5 })
  name!: string;
  @prop({ type: Number, min: 1, max: [9, "Too big"] })
  number?: number;
  @prop({ match: /^a/ })
  match?: string;
  @prop({ type: Number, validate: (value: number) => value % 2 === 0 })
  even?: number;
  @prop({
    validate: { validator: (value: string) => Promise.resolve(value === "x"), message: "No x" },
  })
  later?: string;
  @arrayProp({ items: String, uppercase: true, minLength: 2, validate: (list) => list.length < 3 })
  tags?: string[];
  @prop({ immutable: true })
  fixed?: string;
  @prop({ uppercase: true, alias: "nick" })
  up?: string;
}

test("prop() passes Mongoose's validators and setters through", async () => {
  await using app = await mount([Validated]);
  const made = await app.created("/validated", { name: " AB ", tags: ["xy"], up: "q" });
  assertEquals([made.name, made.tags, made.up], ["ab", ["XY"], "Q"]);
  const body = {
    name: " ",
    number: 10,
    match: "b",
    even: 1,
    later: "y",
    tags: ["a", "bb", "cc"],
  };
  const reply = await app.post<{ errors: Record<string, Json> }>("/validated", body);
  const { errors } = reply.body;
  const messages = [errors.name?.message, errors.number?.message, errors.later?.message];
  assertEquals(messages, ["Name it", "Too big", "No x"]);
  const kinds = ["name", "number", "match", "even", "later", "tags", "tags.0"];
  assertEquals(Object.keys(errors).sort(), kinds.sort());
});

test("prop() holds an update to the same validators, and an immutable field to its value", async () => {
  await using app = await mount([Validated]);
  const { _id } = await app.created("/validated", { name: "abc", fixed: "a" });
  const path = `/validated/${_id}`;
  const changed = await app.updated(path, { fixed: "b", number: 2 });
  assertEquals([changed.fixed, changed.number], ["a", 2]);
  for (const body of [{ name: null }, { number: 0 }, { tags: ["a"] }, { even: 3 }]) {
    assertEquals((await app.patch(path, body)).status, 400);
  }
});

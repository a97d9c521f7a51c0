import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { Buffer } from "node:buffer";
import { arrayProp, create, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import { Address, Person } from "../fixtures/person.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount, NOBODY } from "../support/support.ts";

@rest({ route: "/types", methods: [create(), update()] })
class Typed extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  date?: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: mongoose.Types.ObjectId })
  id24?: string;
  @prop({ type: mongoose.Types.Decimal128 })
  decimal?: mongoose.Types.Decimal128;
  @prop({ type: mongoose.Types.UUID })
  uuid?: mongoose.Types.UUID;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @prop({ type: Address })
  address?: Address;
  @arrayProp({ items: Number })
  numbers?: number[];
  @arrayProp({ items: Address, embedded: true })
  homes?: Address[];
  @prop({ ref: Person })
  friend?: string;
}

const BAD_CASTS: [path: string, value: unknown, problem: string, kind: string][] = [
  ["text", { a: 1 }, "text", "String"],
  ["text", ["a"], "text", "String"],
  ["number", "abc", "number", "Number"],
  ["number", { $gt: 1 }, "number", "Number"],
  ["flag", "maybe", "flag", "Boolean"],
  ["date", "yesterday", "date", "Date"],
  ["big", "1.5", "big", "BigInt"],
  ["big", "9223372036854775808", "big", "BigInt"],
  ["bytes", "!", "bytes", "Buffer"],
  ["bytes", 5, "bytes", "Buffer"],
  ["id24", "abc", "id24", "ObjectId"],
  ["decimal", "abc", "decimal", "Decimal128"],
  ["uuid", "abc", "uuid", "UUID"],
  ["counts", { a: "x" }, "counts.a", "Number"],
  ["counts", [], "counts", "Map"],
  ["address", "x", "address", "Object"],
  ["address", [], "address", "Object"],
  ["address", { street: {} }, "address.street", "String"],
  ["numbers", [1, "x"], "numbers.1", "Number"],
  ["numbers", 1, "numbers", "Array"],
  ["homes", [{ street: "s" }, { street: "t", floor: "x" }], "homes.1.floor", "Number"],
  ["homes", ["x"], "homes.0", "Object"],
  ["friend", "x", "friend", "ObjectId"],
  ["friend", { name: "Ada" }, "friend", "ObjectId"],
];

test("create() and update() name what cannot be cast, with its path and kind", async () => {
  await using app = await mount([Typed, Person]);
  const { _id } = await getModel(Typed).create({ address: { street: "s" } });
  for (const [path, value, problem, kind] of BAD_CASTS) {
    for (const [method, to] of [["POST", "/types"], ["PATCH", `/types/${_id}`]] as const) {
      const reply = await app.send<ErrorBody>(method, to, { body: { [path]: value } });
      const errors = Object.entries(reply.body.errors ?? {}).map(([at, { kind }]) => [at, kind]);
      assertEquals([value, reply.status, reply.body.code], [value, 400, "BAD_DATA"]);
      assertEquals(errors, [[problem, kind]]);
    }
  }
  assertEquals(await getModel(Typed).countDocuments(), 1);
});

test("create() names all fields that cannot be cast at once", async () => {
  await using app = await mount([Typed, Person]);
  const body = { number: "x", flag: "x", homes: [{ street: "s", floor: "x" }] };
  const reply = await app.post<ErrorBody>("/types", body);
  assertEquals(Object.keys(reply.body.errors ?? {}).sort(), ["flag", "homes.0.floor", "number"]);
});

test("create() reads every type in the form that answers have", async () => {
  await using app = await mount([Typed, Person]);
  const body = {
    text: "a",
    number: 1.5,
    flag: false,
    date: "2020-01-02T03:04:05.678Z",
    big: "9223372036854775807",
    bytes: "AAEC/w==",
    id24: NOBODY,
    decimal: "1.50",
    uuid: "01234567-89ab-4def-8123-456789abcdef",
    counts: { a: 1 },
    numbers: [1, 2],
    friend: NOBODY,
  };
  const made = await app.post("/types", body);
  const { _id, __v, homes, ...shown } = made.body;
  assertEquals([__v, homes], [0, []]);
  assertEquals(shown, body);
  const changed = await app.patch(`/types/${_id}`, body);
  assertEquals(changed.body, { ...made.body, __v: 1 });
});

test("create() and update() name the paths of embedded fields that are not valid", async () => {
  await using app = await mount([Person]);
  const body = {
    name: "Ada",
    address: {},
    homes: [{ street: "s" }, { city: "c" }],
    places: { a: {} },
  };
  const expected = ["address.street", "homes.1.street", "places.a.street"];
  const made = await app.post<ErrorBody>("/people", body);
  assertEquals(Object.keys(made.body.errors ?? {}).sort(), expected);
  assertEquals(made.body.errors?.["homes.1.street"]?.kind, "required");
  const { _id } = await getModel(Person).create({ name: "Ada" });
  const changed = await app.patch<ErrorBody>(`/people/${_id}`, body);
  assertEquals(Object.keys(changed.body.errors ?? {}).sort(), expected);
  assert(await getModel(Person).countDocuments() === 1);
});

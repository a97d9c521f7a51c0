import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { mongo, Schema, Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const METHODS = [all(), one(), create(), update(), removeAll()];

class Part extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
}

/** Reads without documents, as a hook may ask for. */
function lean(req: FrameworkRequest): boolean {
  req.framework.options.lean = true;
  return true;
}

/** A plain copy, as a hook may give it. */
const copy = (_req: FrameworkRequest, form: Entity<Form>) => form.toObject();
const spread = (_req: FrameworkRequest, form: Entity<Form>) => ({ ...form });

@rest({ route: "/forms", methods: METHODS })
@rest({ route: "/lean", methods: [all({ preFetch: lean }), one({ preFetch: lean })] })
@rest({
  route: "/copies",
  methods: [
    all({ preSend: copy }),
    one({ postFetch: copy, preSend: spread }),
    create({ preSend: copy }),
    update({ preSend: copy }),
  ],
})
class Form extends FrameworkModel {
  @prop({ type: BigInt })
  big?: bigint;
  @arrayProp({ items: BigInt })
  bigs?: bigint[];
  @prop({ type: Buffer })
  bytes?: Buffer;
  @arrayProp({ items: Buffer })
  byteses?: Buffer[];
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @arrayProp({ items: Types.Decimal128 })
  prices?: Types.Decimal128[];
  @prop({ type: Types.UUID })
  uuid?: Types.UUID;
  @arrayProp({ items: Types.UUID })
  uuids?: Types.UUID[];
  @prop({ type: Types.ObjectId })
  oid?: Types.ObjectId;
  @arrayProp({ items: Types.ObjectId })
  oids?: string[];
  @prop({ type: Date })
  date?: Date;
  @arrayProp({ items: Date })
  dates?: Date[];
  @prop({ type: Map, of: BigInt })
  bigMap?: Map<string, bigint>;
  @prop({ type: Map, of: Buffer })
  byteMap?: Map<string, Buffer>;
  @prop({ type: Map, of: Types.Decimal128 })
  priceMap?: Map<string, Types.Decimal128>;
  @prop({ type: Map, of: Types.UUID })
  uuidMap?: Map<string, Types.UUID>;
  @prop({ type: Map, of: Date })
  dateMap?: Map<string, Date>;
  @prop({ type: Map, of: Part })
  partMap?: Map<string, Part>;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Number })
  number?: number;
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Part })
  part?: Part;
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @prop({ type: Schema.Types.Int32 })
  int?: number;
  @prop({ type: Schema.Types.Double })
  double?: number;
}

const UUID = "0123abcd-4567-489a-bcde-f0123456789a";
const OID = "0123456789abcdef01234567";
const AT = "2020-01-02T03:04:05.678Z";
const BYTES = Buffer.from([0, 1, 250, 251, 252, 253, 254, 255]).toString("base64");
const BIG = "9223372036854775807";
const PART = { big: BIG, bytes: BYTES, price: "1.10", uuid: UUID };

/** A value of every type, in its JSON form. */
const VALUES = {
  big: BIG,
  bigs: [-1, 9007199254740991, "9007199254740993", "-9223372036854775808"],
  bytes: BYTES,
  byteses: ["", BYTES],
  price: "1.10",
  prices: ["0", "-1E-10", "123456789012345678901234567890.1234"],
  uuid: UUID,
  uuids: [UUID],
  oid: OID,
  oids: [OID],
  date: AT,
  dates: [AT, "1969-12-31T23:59:59.999Z"],
  bigMap: { a: 5, b: BIG },
  byteMap: { a: BYTES },
  priceMap: { a: "1.10" },
  uuidMap: { a: UUID },
  dateMap: { a: AT },
  partMap: { a: PART },
  free: { a: [1, { b: "c" }], d: true, e: 1.5 },
  number: 1.5,
  flag: false,
  part: PART,
  parts: [PART, { big: 7 }],
  int: 7,
  double: 0.25,
};

type Json = Record<string, unknown>;

/** The paths on which one form can be read. */
function pathsOf(id: unknown): string[] {
  return ["/forms", "/lean", "/copies"].flatMap((route) => [`${route}/${id}`, route]);
}

for (const route of ["forms", "copies"]) {
  test(`create() and update() read and answer every type in its JSON form, on /${route}`, async () => {
    await using app = await mount([Form]);
    const { _id, ...made } = await app.created(`/${route}`, VALUES);
    assertEquals(made, { ...VALUES, __v: 0 });
    const empty = await app.created(`/${route}`, {});
    const changed = await app.patch<Json>(`/${route}/${empty._id}`, VALUES);
    assertEquals(changed.body, { _id: empty._id, ...VALUES, __v: 1 });
    const again = await app.patch<Json>(`/${route}/${_id}`, made);
    assertEquals(again.body, { _id, ...VALUES, __v: 1 });
  });
}

test("all() and one() answer the same form for documents, lean objects and plain copies", async () => {
  await using app = await mount([Form]);
  const { _id } = await app.created("/forms", VALUES);
  for (const path of pathsOf(_id)) {
    const { status, body } = await app.get(path);
    const [entity] = [body].flat();
    assertEquals([path, status, entity], [path, 200, { _id, ...VALUES, __v: 0 }]);
  }
});

test("create() stores each type as the database's own", async () => {
  await using app = await mount([Form]);
  await app.created("/forms", VALUES);
  const pipeline = Object.keys(VALUES).map((name) => [name, { $type: `$${name}` }]);
  const [types] = await getModel(Form).aggregate([{
    $project: { _id: 0, ...Object.fromEntries(pipeline) },
  }]);
  const { big, bytes, price, uuid, oid, date, bigMap, free, number, flag, int, double } = types;
  assertEquals([big, bytes, price, uuid, oid, date], [
    ...["long", "binData", "decimal", "binData", "objectId", "date"],
  ]);
  assertEquals([bigMap, free, number, flag], ["object", "object", "double", "bool"]);
  assertEquals([int, double], ["int", "double"]);
  const stored = await getModel(Form).collection.findOne({}, { promoteBuffers: true });
  assertEquals(Buffer.from(stored?.bytes).toString("base64"), BYTES);
});

/** Integers of the database, and their form. */
const INTEGERS: [string, number | string][] = [
  ["0", 0],
  ["-5", -5],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992],
  ["9007199254740993", "9007199254740993"],
  ["-9007199254740992", -9007199254740992],
  ["-9007199254740993", "-9007199254740993"],
  [BIG, BIG],
];

test("all() gives an int64 as a number up to 2^53 and as text beyond, whatever field holds it", async () => {
  await using app = await mount([Form]);
  for (const [text, form] of INTEGERS) {
    const long = mongo.Long.fromString(text);
    const _id = new Types.ObjectId();
    const values = { big: long, bigs: [long], bigMap: { a: long }, free: { a: [long] } };
    await getModel(Form).collection.insertOne({ _id, ...values, part: { big: long } });
    for (const path of pathsOf(_id).filter((path) => path.endsWith(String(_id)))) {
      const { body } = await app.get<typeof values & { part: Json }>(path);
      const { big, bigs, bigMap, free, part } = body;
      const all = [big, ...bigs, bigMap.a, ...free.a, part.big];
      assertEquals([path, all], [path, Array(5).fill(form)]);
    }
  }
});

test("create() takes an int64 as a number or as text, and nothing that is none", async () => {
  await using app = await mount([Form]);
  for (const [text, form] of INTEGERS) {
    // A parser may have rounded 2^53 itself.
    const sent = Number.isSafeInteger(form) ? form : text;
    assertEquals((await app.created("/forms", { big: text, bigs: [sent] })).bigs, [form]);
  }
  for (const big of [1.5, "1.5", "x", {}, [], "9223372036854775808", 1e300]) {
    const reply = await app.post<{ code: string; errors: Json }>("/forms", { big });
    assertEquals([big, reply.status, reply.body.code], [big, 400, "BAD_DATA"]);
    assertEquals(Object.keys(reply.body.errors), ["big"]);
  }
});

/** Bodies that no value of the type can be read from. */
const BAD: Record<string, unknown[]> = {
  bytes: ["*", "a b", 5, {}, [1, 2], true, { type: "Buffer", data: [1] }, "a", "ab=cd"],
  price: ["x", {}, [], true],
  uuid: ["x", 5, {}, UUID.slice(1), []],
  oid: ["x", 5, {}, OID.slice(1), `${OID}0`, "abcdefghijkl"],
  date: ["never", {}, [], true],
  bigMap: [5, [], { a: "x" }, { a: {} }],
  uuidMap: [{ a: "x" }],
  number: ["x", {}, [], "1,5"],
  int: [1.5, "x", 2 ** 40],
};

test("create() refuses what is no value of a type, and names the path", async (t) => {
  await using app = await mount([Form]);
  for (const [name, values] of Object.entries(BAD)) {
    await t.step(name, async () => {
      for (const value of values) {
        const body = { [name]: value };
        const reply = await app.post<{ errors: Json }>("/forms", body);
        assertEquals([body, reply.status], [body, 400]);
        assertEquals(Object.keys(reply.body.errors)[0]?.split(".")[0], name);
      }
    });
  }
  assertEquals(await getModel(Form).countDocuments(), 0);
});

test("all() finds by q what it shows, in the form in which it shows it", async () => {
  await using app = await mount([Form]);
  const { _id } = await app.created("/forms", VALUES);
  const { free: _, part: __, parts: ___, partMap: ____, ...values } = VALUES;
  for (const [name, value] of Object.entries(values)) {
    if (/Map$/.test(name)) continue;
    for (const filter of [{ [name]: value }, { [name]: { $in: [value].flat() } }]) {
      const q = encodeURIComponent(JSON.stringify(filter));
      const reply = await app.get<Json[]>(`/forms?q=${q}`);
      assertEquals([filter, reply.status], [filter, 200]);
      assertEquals([filter, reply.body.map((each) => each._id)], [filter, [_id]]);
    }
  }
});

/** What hooks may put into a free-form field or an answer, and its form. */
const ODD: [string, unknown, unknown][] = [
  ["a date", new Date(AT), AT],
  ["an invalid date", new Date(NaN), null],
  ["an identifier", new Types.ObjectId(OID), OID],
  ["a decimal", Types.Decimal128.fromString("1.10"), "1.10"],
  ["a UUID", new Types.UUID(UUID), UUID],
  ["bytes", Buffer.from(BYTES, "base64"), BYTES],
  ["a typed array", new Uint8Array([1, 2]), "AQI="],
  ["a view of a part", new Uint8Array([9, 1, 2, 9]).subarray(1, 3), "AQI="],
  ["a binary", new mongo.Binary(Buffer.from([1, 2])), "AQI="],
  ["a UUID as binary", new mongo.Binary(Buffer.from(UUID.replaceAll("-", ""), "hex"), 4), UUID],
  ["a small bigint", 5n, 5],
  ["the last exact bigint", 2n ** 53n, 2 ** 53],
  ["the first inexact bigint", -(2n ** 53n) - 1n, "-9007199254740993"],
  ["a large bigint", 2n ** 70n, String(2n ** 70n)],
  ["a long", mongo.Long.fromString(BIG), BIG],
  ["an int32", new mongo.Int32(5), 5],
  ["a double", new mongo.Double(0.5), 0.5],
  ["a timestamp", new mongo.Timestamp({ t: 1, i: 2 }), "4294967298"],
  ["a map", new Map<string, unknown>([["a", 5n], ["b", new Map([["c", 1]])]]), {
    a: 5,
    b: { c: 1 },
  }],
  ["a set", new Set([1, "a"]), [1, "a"]],
  ["no number", NaN, null],
  ["an expression", /a/i, "/a/i"],
  ["a class with toJSON", { toJSON: () => ({ a: 5n }) }, { a: 5 }],
  ["a URL", new URL("http://a/b"), "http://a/b"],
  ["null", null, null],
  ["a hole", [, 1], [null, 1]],
];

for (const [what, value, form] of ODD) {
  test(`preSend may give ${what}, alone and in lists and objects`, async () => {
    const give = () => ({ value, list: [value], inner: { value }, none: undefined, fn: () => 1 });
    @rest({ route: "/odd", methods: [all({ preSend: give }), create({ preSend: give })] })
    class Odd extends Named {}
    await using app = await mount([Odd]);
    const expected = { value: form, list: [form], inner: { value: form } };
    assertEquals(await app.created<unknown>("/odd", {}), expected);
    assertEquals((await app.get<Json[]>("/odd")).body, [expected]);
  });
}

/** Free-form data that only the database or a hook can have stored. */
const FREE: [string, unknown, unknown][] = ODD.filter(([what]) =>
  !/class|URL|set|hole|bigint|expression|map/.test(what)
);

test("a free-form field answers each stored type in the form that a declared field has", async () => {
  await using app = await mount([Form]);
  for (const [what, value, form] of FREE) {
    if (what === "an invalid date") continue;
    const _id = new Types.ObjectId();
    await getModel(Form).collection.insertOne({ _id, free: { a: value, b: [{ c: value }] } });
    for (const path of pathsOf(_id).filter((path) => path.endsWith(String(_id)))) {
      const { body } = await app.get<{ free: unknown }>(path);
      assertEquals([what, path, body.free], [what, path, { a: form, b: [{ c: form }] }]);
    }
  }
});

test("a map may have keys that look like anything but a path", async () => {
  await using app = await mount([Form]);
  const bigMap = { hidden: 1, type: 2, size: 3, get: 4, length: 5, "a b": 6, "ü": 7 };
  const { _id, ...made } = await app.created("/forms", { bigMap });
  assertEquals(made.bigMap, bigMap);
  for (const path of pathsOf(_id)) {
    const [entity] = [(await app.get<Json>(path)).body].flat();
    assertEquals(entity?.bigMap, bigMap);
  }
});

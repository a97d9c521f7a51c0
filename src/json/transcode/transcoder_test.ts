import { assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { BsonReader, UnknownTypeError } from "../bytes/bson_reader.ts";
import { JsonWriter } from "../bytes/json_writer.ts";
import { writeBase64, writeUuid } from "../json_types.ts";
import { ANY } from "./plan.ts";
import type { FieldPlan, Plan, ValuePlan } from "./plan.ts";
import { Transcoder } from "./transcoder.ts";

const { BSON, Binary, Code, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId } =
  mongoose.mongo;
const { Timestamp, UUID } = mongoose.mongo;

/** An element of a BSON document, byte by byte: for what the driver would not write. */
function element(type: number, name: string | Uint8Array, value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type]), Buffer.from(name as string), Buffer.from([0]), value]);
}

/** A BSON document of such elements. */
function document(...elements: Uint8Array[]): Buffer {
  const length = 5 + elements.reduce((sum, each) => sum + each.length, 0);
  const head = Buffer.alloc(4);
  head.writeInt32LE(length);
  return Buffer.concat([head, ...elements, Buffer.from([0])]);
}

function text(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  const head = Buffer.alloc(4);
  head.writeInt32LE(bytes.length + 1);
  return Buffer.concat([head, bytes, Buffer.from([0])]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

/** The JSON text of BSON bytes. */
function jsonOf(bson: Uint8Array, plan?: Plan, size = 1): string {
  const out = new JsonWriter(size);
  const source = new BsonReader(Buffer.from(bson));
  new Transcoder(source, { out }).document(plan);
  assertEquals(source.at, bson.length);
  return out.written.toString();
}

/** The JSON text of one value. */
function valueOf(value: unknown): string {
  return jsonOf(BSON.serialize({ v: value }, { ignoreUndefined: false })).slice(5, -1);
}

type FieldGiven = Partial<ValuePlan> & { readonly standsFor?: string };

/** A plan of fields that may be anything, unless told otherwise. */
function planOf(given: Record<string, FieldGiven>, recursive = false): Plan {
  const fields = new Map<string, FieldPlan>();
  const defaults: { field: FieldPlan; text: Uint8Array }[] = [];
  for (const [name, { standsFor, ...value }] of Object.entries(given)) {
    const key = Buffer.from(`${JSON.stringify(name)}:`);
    const expected = standsFor === undefined ? 0 : 1;
    const field = {
      property: name,
      name: Buffer.from(name),
      key,
      expected,
      lastObject: 0,
      types: ANY,
      ...value,
    } as const;
    fields.set(name, field);
    if (standsFor === undefined) continue;
    const entry = standsFor === "" ? "" : `${JSON.stringify(name)}:${standsFor}`;
    defaults.push({ field, text: Buffer.from(entry) });
  }
  return { fields, defaults, recursive, order: [], objects: 0 };
}

/** A plan of an object whose keys are data. */
function mapOf(values: ValuePlan): Plan {
  return { ...planOf({}), values };
}

const STRING = 1 << 0x02;
const NUMBER = 1 << 0x01 | 1 << 0x10 | 1 << 0x12;

Deno.test("Transcoder.document() writes numbers as JSON does", () => {
  const numbers = [0, 1, -1, 9, 10, -10, 1.5, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 2 ** 31];
  for (const value of [...numbers, 2 ** 53, 2 ** 53 + 2, -(2 ** 31), 2 ** 31 - 1, -(2 ** 53)]) {
    assertEquals(valueOf(new Double(value)), JSON.stringify(value));
  }
  for (const value of [0, 9, 10, -1, 2 ** 31 - 1, -(2 ** 31)]) {
    assertEquals(valueOf(new Int32(value)), String(value));
  }
});

Deno.test("Transcoder.document() writes -0 as 0, and null for what is no number", () => {
  assertEquals(valueOf(new Double(-0)), "0");
  for (const value of [NaN, Infinity, -Infinity]) {
    assertEquals(valueOf(new Double(value)), "null");
  }
});

Deno.test("Transcoder.document() writes an int64 as a number up to 2^53, and as text beyond", () => {
  const numbers = ["0", "-1", "4294967296", "-4294967296", "9007199254740992", "-9007199254740992"];
  for (const value of numbers) assertEquals(valueOf(Long.fromString(value)), value);
  const texts = ["9007199254740993", "-9007199254740993", "9223372036854775807"];
  for (const value of [...texts, "-9223372036854775808"]) {
    assertEquals(valueOf(Long.fromString(value)), `"${value}"`);
  }
});

Deno.test("Transcoder.document() writes decimals as text", () => {
  const values = ["0", "1.50", "-1E+3", "9.999999999999999999999999999999999E+6144", "NaN"];
  for (const value of [...values, "Infinity", "-Infinity", "-0"]) {
    assertEquals(valueOf(Decimal128.fromString(value)), `"${Decimal128.fromString(value)}"`);
  }
});

Deno.test("Transcoder.document() writes dates in ISO form, of any year", () => {
  const dates = [
    "1970-01-01",
    "2000-02-29",
    "1900-03-01",
    "1999-12-31T23:59:59.999Z",
    "2024-02-29",
  ];
  const edges = ["0000-01-01", "0001-01-01", "9999-12-31T23:59:59.999Z", "+010000-01-01T00:00:00Z"];
  const far = ["-000001-12-31T23:59:59.999Z", "+275760-09-13T00:00:00Z", "-271821-04-20T00:00:00Z"];
  for (const date of [...dates, ...edges, ...far].map((each) => new Date(each))) {
    assertEquals(valueOf(date), JSON.stringify(date));
  }
});

Deno.test("Transcoder.document() writes days of 800 years as Date does", () => {
  for (let day = -146_097; day < 146_097; day += 13) {
    const time = day * 86_400_000 + (day * 7919) % 86_400_000;
    assertEquals(valueOf(new Date(time)), `"${new Date(time).toISOString()}"`);
  }
});

Deno.test("Transcoder.document() writes null for a date that JavaScript cannot hold", () => {
  for (const time of [8_640_000_000_000_001n, -8_640_000_000_000_001n, 2n ** 63n - 1n]) {
    assertEquals(jsonOf(document(element(0x09, "v", int64(time)))), '{"v":null}');
  }
});

Deno.test("Transcoder.document() writes bytes as base64, and UUIDs as text", () => {
  const bytes = Buffer.from("hello \xff", "latin1");
  for (const subtype of [0, 1, 2, 3, 5, 6, 9, 128]) {
    assertEquals(valueOf(new Binary(bytes, subtype)), `"${bytes.toString("base64")}"`);
  }
  assertEquals(valueOf(new Binary(Buffer.alloc(0))), '""');
  const uuid = "01234567-89ab-4def-8123-456789abcdef";
  assertEquals(valueOf(new UUID(uuid)), `"${uuid}"`);
  assertEquals(valueOf(new Binary(Buffer.from("abc"), 4)), '"YWJj"');
});

Deno.test("Transcoder.document() writes the other types that have a JSON form", () => {
  assertEquals(valueOf(true), "true");
  assertEquals(valueOf(false), "false");
  assertEquals(valueOf(null), "null");
  assertEquals(valueOf(new ObjectId("0123456789abcdef01234567")), '"0123456789abcdef01234567"');
  assertEquals(valueOf(Timestamp.fromString("18446744073709551615", 10)), '"18446744073709551615"');
});

Deno.test("Transcoder.document() writes empty and nested objects and arrays", () => {
  const value = { a: {}, b: [], c: [{}, [], [[]]], d: { e: { f: [{ g: 1 }, 2] } } };
  assertEquals(jsonOf(BSON.serialize(value)), JSON.stringify(value));
  assertEquals(jsonOf(BSON.serialize({})), "{}");
});

Deno.test("Transcoder.document() escapes keys as it does text", () => {
  const value = { 'a"b': 1, "é\n": 2, "": 3, "a.b": 4, "$c": 5, "\\": 6 };
  assertEquals(jsonOf(BSON.serialize(value)), JSON.stringify(value));
});

Deno.test("Transcoder.document() writes keys that look like integers where they stand", () => {
  const bson = document(
    element(0x10, "b", int32(1)),
    element(0x10, "10", int32(2)),
    element(0x10, "2", int32(3)),
  );
  assertEquals(jsonOf(bson), '{"b":1,"10":2,"2":3}');
});

Deno.test("Transcoder.document() replaces text that is no UTF-8, in keys too", () => {
  const bson = document(
    element(0x02, Uint8Array.from([0xff]), text(Uint8Array.from([0x61, 0xc3]))),
  );
  assertEquals(jsonOf(bson), '{"\ufffd":"a\ufffd"}');
});

Deno.test("Transcoder.document() throws UnknownTypeError for types without a JSON form", () => {
  const values = [/a/g, new MinKey(), new MaxKey(), new Code("x"), new Code("x", { a: 1 })];
  for (const value of values) {
    assertThrows(() => valueOf(value), UnknownTypeError, "Cannot write BSON type");
  }
  assertThrows(() => jsonOf(document(element(0x0c, "v", POINTER))), UnknownTypeError);
  assertThrows(() => jsonOf(document(element(0x20, "v", Buffer.alloc(0)))), UnknownTypeError);
});

Deno.test("Transcoder.document() writes many keys that look alike", () => {
  const value = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}x`, i]));
  assertEquals(jsonOf(BSON.serialize(value)), JSON.stringify(value));
});

Deno.test("Transcoder.document() leaves keys out that reach a prototype", () => {
  for (const key of ["__proto__", "constructor", "prototype"]) {
    const bson = document(element(0x03, key, document()), element(0x10, "a", int32(1)));
    assertEquals(jsonOf(bson), '{"a":1}');
    assertEquals(jsonOf(bson, planOf({ a: {} })), '{"a":1}');
  }
});

Deno.test("Transcoder.document() writes the fields of its plan and leaves out the others", () => {
  const plan = planOf({ a: {}, c: {} });
  const value = { a: 1, b: { a: 1 }, c: [1], d: /x/, e: new MinKey(), f: new Code("x", {}), g: "" };
  assertEquals(jsonOf(BSON.serialize(value), plan), '{"a":1,"c":[1]}');
  assertEquals(jsonOf(BSON.serialize({ b: 1 }), plan), "{}");
});

const POINTER = Buffer.concat([text("c"), Buffer.alloc(12)]);
const SCOPED = Buffer.from(BSON.serialize({ v: new Code("x", { a: 1 }) })).subarray(7, -1);

/** A value of every type. */
const VALUES: [number, Uint8Array][] = [
  [0x01, double(1)],
  [0x02, text("x")],
  [0x03, document()],
  [0x04, document()],
  [0x05, Buffer.from([1, 0, 0, 0, 0, 9])],
  [0x06, Buffer.alloc(0)],
  [0x07, Buffer.alloc(12)],
  [0x08, Buffer.from([1])],
  [0x09, int64(1n)],
  [0x0a, Buffer.alloc(0)],
  [0x0b, Buffer.from("a\0i\0")],
  [0x0c, POINTER],
  [0x0d, text("x")],
  [0x0e, text("x")],
  [0x0f, SCOPED],
  [0x10, int32(1)],
  [0x11, int64(1n)],
  [0x12, int64(1n)],
  [0x13, Buffer.alloc(16)],
  [0x7f, Buffer.alloc(0)],
  [0xff, Buffer.alloc(0)],
];

Deno.test("Transcoder.document() skips undeclared fields of every type", () => {
  for (const [type, value] of VALUES) {
    const bson = document(element(type, "x", value), element(0x10, "a", int32(5)));
    assertEquals(jsonOf(bson, planOf({ a: {} })), '{"a":5}', `type ${type}`);
  }
  const bad = document(element(0x20, "x", Buffer.alloc(0)));
  assertThrows(() => jsonOf(bad, planOf({ a: {} })), UnknownTypeError, "Cannot skip");
});

Deno.test("Transcoder.document() follows the plan of objects and of arrays of them", () => {
  const object = planOf({ a: {} });
  const plan = planOf({ o: { object }, l: { items: { types: ANY, object } } });
  const value = { o: { a: 1, b: 2 }, l: [{ b: 1 }, { a: 2 }, null, 5] };
  assertEquals(jsonOf(BSON.serialize(value), plan), '{"o":{"a":1},"l":[{},{"a":2},null,5]}');
});

Deno.test("Transcoder.document() finds fields in whatever order documents have them", () => {
  const plan = planOf({ a: {}, b: {}, c: {} });
  for (const keys of ["abc", "cba", "bca", "xaybzc", "b", "", "cxa", "abc"]) {
    const value = Object.fromEntries([...keys].map((key, i) => [key, i]));
    const expected = Object.fromEntries(Object.entries(value).filter(([key]) => key < "d"));
    assertEquals(jsonOf(BSON.serialize(value), plan), JSON.stringify(expected));
  }
});

Deno.test("Transcoder.document() writes what stands for fields that are missing", () => {
  const plan = planOf({ a: { standsFor: "1" }, b: {}, c: { standsFor: "[]" } });
  const json = (value: object) => JSON.parse(jsonOf(BSON.serialize(value), plan));
  assertEquals(json({}), { a: 1, c: [] });
  assertEquals(json({ b: 2 }), { a: 1, b: 2, c: [] });
  assertEquals(json({ c: null, x: 1 }), { a: 1, c: null });
  assertEquals(json({ a: 5, c: [1] }), { a: 5, c: [1] });
});

Deno.test("Transcoder.document() knows more than 32 fields with a default", () => {
  const names = Array.from({ length: 100 }, (_, i) => `f${i}`);
  const plan = planOf(Object.fromEntries(names.map((name) => [name, { standsFor: "0" }])));
  const expected = Object.fromEntries(names.map((name, i) => [name, i === 70 ? 1 : 0]));
  assertEquals(JSON.parse(jsonOf(BSON.serialize({ f70: 1 }), plan)), expected);
});

Deno.test("Transcoder.document() throws UnknownTypeError for a default that is computed, if it is needed", () => {
  const plan = planOf({ a: { standsFor: "" } });
  assertEquals(jsonOf(BSON.serialize({ a: 1 }), plan), '{"a":1}');
  assertThrows(() => jsonOf(BSON.serialize({}), plan), UnknownTypeError, "computed");
});

Deno.test("Transcoder.document() cannot tell what is missing from an object that holds its own kind", () => {
  const plan = planOf({ a: { standsFor: "1" }, of: {} }, true);
  assertEquals(jsonOf(BSON.serialize({ a: 1 }), plan), '{"a":1}');
  assertThrows(() => jsonOf(BSON.serialize({ of: { a: 1 } }), plan), UnknownTypeError);
});

Deno.test("Transcoder.document() throws UnknownTypeError for a value of another type than its field's", () => {
  const plan = planOf({ s: { types: STRING }, l: { types: 1 << 0x04, items: { types: STRING } } });
  assertEquals(jsonOf(BSON.serialize({ s: "a", l: ["b"] }), plan), '{"s":"a","l":["b"]}');
  for (
    const value of [{ s: 1 }, { s: null }, { s: {} }, { l: "a" }, { l: [1] }, { l: ["a", null] }]
  ) {
    assertThrows(() => jsonOf(BSON.serialize(value), plan), UnknownTypeError);
  }
  const none = document(element(0x06, "s", Buffer.alloc(0)));
  for (const each of [plan, planOf({ s: {} })]) {
    assertThrows(() => jsonOf(none, each), UnknownTypeError);
  }
});

Deno.test("Transcoder.document() throws UnknownTypeError for numbers and dates that a field cannot hold", () => {
  const plan = planOf({ n: { types: NUMBER }, d: { types: 1 << 0x09 }, i: { types: 1 << 0x12 } });
  const json = (...elements: Uint8Array[]) => jsonOf(document(...elements), plan);
  assertEquals(json(element(0x01, "n", double(Infinity))), '{"n":null}');
  assertEquals(json(element(0x12, "n", int64(2n ** 53n - 1n))), '{"n":9007199254740991}');
  assertEquals(json(element(0x12, "i", int64(2n ** 53n + 1n))), '{"i":"9007199254740993"}');
  assertThrows(() => json(element(0x12, "n", int64(2n ** 53n))), UnknownTypeError);
  assertThrows(() => json(element(0x01, "n", double(NaN))), UnknownTypeError);
  assertThrows(() => json(element(0x09, "d", int64(2n ** 62n))), UnknownTypeError);
});

Deno.test("Transcoder.document() writes bytes in the form of their field", () => {
  const uuid = new UUID("01234567-89ab-4def-8123-456789abcdef");
  const asBytes = planOf({ v: { types: 1 << 0x05, write: writeBase64 } });
  const asUuid = planOf({ v: { types: 1 << 0x05, write: writeUuid } });
  const bson = BSON.serialize({ v: uuid });
  assertEquals(jsonOf(bson, asBytes), '{"v":"ASNFZ4mrTe+BI0VniavN7w=="}');
  assertEquals(jsonOf(bson, asUuid), `{"v":"${uuid}"}`);
  const other = BSON.serialize({ v: Buffer.from("abc") });
  assertThrows(() => jsonOf(other, asUuid), UnknownTypeError);
});

Deno.test("Transcoder.document() follows the plan of a map's values, whatever their keys", () => {
  const plan = planOf({ m: { object: mapOf({ types: ANY, object: planOf({ a: {} }) }) } });
  const value = { m: { m: { a: 1, b: 2 }, a: { b: 1 }, "1": { a: null } } };
  const expected = '{"m":{"1":{"a":null},"m":{"a":1},"a":{}}}';
  assertEquals(jsonOf(BSON.serialize(value), plan), expected);
});

Deno.test("Transcoder.document() throws UnknownTypeError for keys that no map can have", () => {
  const plan = planOf({ m: { object: mapOf({ types: ANY }) } });
  assertEquals(jsonOf(BSON.serialize({ m: { "a$": 1, "": 2 } }), plan), '{"m":{"a$":1,"":2}}');
  for (const key of ["a.b", "$a", "."]) {
    assertThrows(() => jsonOf(BSON.serialize({ m: { [key]: 1 } }), plan), UnknownTypeError);
  }
});

Deno.test("Transcoder.document() throws UnknownTypeError for what may be a reference of the driver", () => {
  const bson = BSON.serialize({ $ref: "c", $id: 1, a: 2 });
  assertThrows(() => jsonOf(bson, planOf({ a: {} })), UnknownTypeError);
  assertEquals(jsonOf(bson), '{"$ref":"c","$id":1,"a":2}');
});

Deno.test("Transcoder.document() grows its buffer wherever it becomes full", () => {
  const value = {
    date: new Date(0),
    id: new ObjectId(),
    text: "é\n".repeat(50),
    list: [1, [2.5, [true]]],
    bytes: Buffer.alloc(200),
    uuid: new UUID(),
    nested: { a: { b: { c: "d" } } },
    none: null,
  };
  const bson = BSON.serialize(value);
  const expected = jsonOf(bson, undefined, 100_000);
  for (let size = 1; size < 600; size++) assertEquals(jsonOf(bson, undefined, size), expected);
  const plan = planOf({ date: {}, text: {}, nested: {}, more: { standsFor: "[]" }, uuid: {} });
  const planned = jsonOf(bson, plan, 100_000);
  for (let size = 1; size < 600; size++) assertEquals(jsonOf(bson, plan, size), planned);
});

Deno.test("Transcoder.document() writes a document of 16 MB", () => {
  const bson = BSON.serialize({ a: "x".repeat(8_000_000), b: "é".repeat(4_000_000) });
  assertEquals(jsonOf(bson).length, 12_000_000 + 15);
});

Deno.test("Transcoder.document() takes a name that is no UTF-8 for no field, though it looks like one", () => {
  const bson = document(
    element(0x10, new Uint8Array([0x61, 0xff]), int32(1)),
    element(0x10, "b", int32(2)),
  );
  assertEquals(jsonOf(bson, planOf({ "a\uFFFD": {}, b: {} })), '{"b":2}');
});

Deno.test("Transcoder.document() tells a field from one whose name begins like it", () => {
  const plan = planOf({ a: {}, ab: {} });
  assertEquals(jsonOf(BSON.serialize({ a: 1, ab: 2 }), plan), '{"a":1,"ab":2}');
  assertEquals(jsonOf(BSON.serialize({ ab: 1, a: 2, abc: 3 }), plan), '{"ab":1,"a":2}');
});

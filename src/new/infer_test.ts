import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { define, FrameworkModel, type ModelClass } from "../../mod.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { type Field, fieldsOf, identifierOf } from "./infer.ts";
import { reservedBy } from "./read_database.ts";
import { Seen } from "./seen.ts";

const { BSON, Decimal128, Double, Int32, Long, ObjectId, UUID, Binary, Timestamp } = mongoose.mongo;

const isReserved = reservedBy(mongoose);

/** Infers the fields of objects as MongoDB sends them. */
function infer(objects: readonly object[]): { fields: Field[]; notes: string[]; seen: Seen } {
  const seen = new Seen();
  for (const each of objects) {
    seen.add(BSON.deserialize(BSON.serialize(each), { promoteValues: false }));
  }
  const notes: string[] = [];
  const note = (path: string, text: string) => notes.push(`${path}: ${text}`);
  return { fields: fieldsOf(seen, { isReserved, note }), notes, seen };
}

/** Writes a field in one line. */
function lineOf({ name, kind, of, fields, id, isList, required, hidden }: Field): string {
  const inner = fields && `{${id ?? ""} ${fields.map(lineOf).join("; ")}}`;
  const ofMap = of && `<${of.fields ? of.fields.map(lineOf).join("; ") : of.kind}>`;
  const words = [`${name}:`, kind + (ofMap ?? "") + (inner ?? "") + (isList ? "[]" : "")];
  return [...words, ...required ? ["required"] : [], ...hidden ? ["hidden"] : []].join(" ");
}

const many = (count: number, make: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => make(index));

const id = new ObjectId();

/** The values of a field `f` in some objects, and what becomes of them. `undefined` is a missing field. */
const CASES: readonly (readonly [string, readonly unknown[], string | undefined, string?])[] = [
  ["a string", ["x", "y"], "f: String required"],
  ["an empty string, which Mongoose takes for missing", ["x", ""], "f: String"],
  ["a missing field", ["x", undefined], "f: String"],
  ["null", ["x", null], "f: String"],
  ["only null", [null, null], undefined, "f: 2 Null: not declared, no value tells its type"],
  [
    "int, long and double",
    [new Int32(1), Long.fromNumber(1), new Double(1.5)],
    "f: Number required",
  ],
  ["a long beyond 2^53", [Long.fromString("9007199254740993")], "f: BigInt required"],
  ["ints and long beyond 2^53", [new Int32(1), Long.MAX_VALUE], "f: BigInt required"],
  [
    "fractions and long beyond 2^53",
    [new Double(0.5), Long.MAX_VALUE],
    "f: Object",
    "f: 1 BigInt, 1 Number: declared as any values",
  ],
  ["decimals", [Decimal128.fromString("1.5")], "f: Decimal128 required"],
  [
    "decimals and numbers",
    [Decimal128.fromString("1.5"), 1],
    "f: Object",
    "f: 1 Decimal128, 1 Number: declared as any values",
  ],
  ["booleans", [true], "f: Boolean required"],
  ["dates", [new Date(0)], "f: Date required"],
  ["identifiers", [id], "f: ObjectId required"],
  ["UUIDs", [new UUID()], "f: UUID required"],
  ["bytes", [new Binary(new Uint8Array([1]))], "f: Buffer required"],
  ["no bytes", [new Binary(new Uint8Array())], "f: Buffer"],
  [
    "encrypted bytes",
    [new Binary(new Uint8Array([1]), 6)],
    undefined,
    "f: 1 encrypted Binary: not declared, the type encrypted Binary cannot be declared",
  ],
  [
    "timestamps",
    [new Timestamp({ t: 1, i: 1 })],
    undefined,
    "f: 1 Timestamp: not declared, the type Timestamp cannot be declared",
  ],
  [
    "a type in half of the values",
    ["x", 1],
    "f: Object",
    "f: 1 Number, 1 String: declared as any values",
  ],
  [
    "a type in less than 1 %",
    [...many(199, () => 1), "x"],
    "f: Number",
    "f: 199 Number, 1 String: declared as Number",
  ],
  [
    "a field in less than 1 %",
    [...many(199, () => undefined), "x"],
    undefined,
    "f: 1 String: not declared, in 1 of 200 objects only",
  ],
  ["a field in 1 %", [...many(99, () => undefined), "x"], "f: String"],
  ["lists", [["x"], []], "f: String[] required"],
  [
    "empty lists",
    [[], []],
    "f: Object[] required",
    "f: all lists are empty: declared as a list of any values",
  ],
  [
    "lists of several types",
    [["x", 1]],
    "f: Object[] required",
    "f[]: 1 Number, 1 String: declared as any values",
  ],
  ["lists of lists", [[[1, 2]]], "f: Object[] required"],
  [
    "lists and single values",
    [["x"], "x"],
    "f: String[]",
    "f: 1 Array, 1 String: declared as list of String",
  ],
  [
    "lists and other values",
    [["x"], 1],
    "f: Object",
    "f: 1 Array, 1 Number: declared as any values",
  ],
  ["objects", [{ a: 1 }, { a: 2, b: "x" }], "f: Class{ a: Number required; b: String} required"],
  ["objects with an _id", [{ _id: id, a: 1 }], "f: Class{ObjectId a: Number required} required"],
  [
    "objects with an _id of several types",
    [{ _id: id, a: 1 }, { _id: 1, a: 1 }],
    "f: Class{ a: Number required} required",
    "f._id: 1 Number, 1 ObjectId: not declared",
  ],
  ["lists of objects", [[{ a: 1 }, {}]], "f: Class{ a: Number}[] required"],
  ["empty objects", [{}], "f: Object required"],
  [
    "objects and strings",
    [{ a: 1 }, "x"],
    "f: Object",
    "f: 1 Object, 1 String: declared as any values",
  ],
  ["names that are data", [{ "2026-01-01": 1 }, { "2026-01-02": 2 }], "f: Map<Number> required"],
  [
    "names that are identifiers",
    [{ [id.toHexString()]: { a: 1 } }],
    "f: Map<a: Number required> required",
  ],
  ["names that vary", many(20, (index) => ({ [`k${index}`]: "x" })), "f: Map<String> required"],
  [
    "names that vary, with a dot",
    many(20, (index) => ({ [`k.${index}`]: "x" })),
    "f: Object required",
  ],
  [
    "values that vary too",
    [{ 1: "x", 2: 1 }],
    "f: Map required",
    "f.*: 1 Number, 1 String: declared as any values",
  ],
  ["many objects of one form", [
    Object.fromEntries(many(12, (index) => [`k${index}`, { a: 1 }]) as []),
  ], "f: Map<a: Number required> required"],
  [
    "deep objects",
    [{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }],
    "f: Class{ a: Class{ b: Class{ c: Class{ d: Class{ e: Class{ f: Object required} required} required} required} required} required} required",
  ],
];

for (const [words, values, expected, note] of CASES) {
  Deno.test(`fieldsOf() declares ${words}`, () => {
    const { fields, notes } = infer(values.map((f) => f === undefined ? {} : { f }));
    assertEquals([fields.map(lineOf)[0], notes[0]], [expected, note]);
  });
}

const SECRETS = [
  "password",
  "userPassword",
  "pass_phrase",
  "pwd",
  "token",
  "accessTokens",
  "HASH",
  "passwordHash",
  "secret",
  "clientSecret",
  "salt",
  "api_key",
  "apiKey",
  "privateKey",
  "credentials",
  "pass",
  "smtp_pass",
  "passcode",
  "accessKey",
];
const OTHERS = ["hashtags", "salty", "passport", "boardingPass", "name", "key", "compass"];

Deno.test("fieldsOf() hides secrets by their names, and objects of any values that hold some", () => {
  const f = Object.fromEntries([...SECRETS, ...OTHERS].map((name) => [name, "x"]));
  const [field] = infer([{ f }]).fields;
  assertEquals(field?.fields?.filter(({ hidden }) => hidden).map(({ name }) => name), SECRETS);
  const places = [{ f: { token: { a: 1 } } }, { f: [{ a: { salt: 1 } }, 1] }, {
    f: [[{ salt: 1 }]],
  }, { f: { 1: { 2: { salt: 1 } } } }];
  for (const place of places) {
    const { fields: [found] } = infer([place]);
    assertEquals((found?.fields?.[0] ?? found)?.hidden, true, JSON.stringify(place));
  }
  const [map] = infer([{ f: { 1: { salt: 1 }, 2: { salt: 2 } } }]).fields;
  assertEquals([map?.hidden, map?.of?.fields?.[0]?.hidden], [false, true]);
});

Deno.test("fieldsOf() takes no stored text for the name of a type", () => {
  const seen = new Seen();
  for (const text of ["String", "Ann's diary"]) seen.add({ f: { _bsontype: text, salt: "x" } });
  const notes: string[] = [];
  const note = (path: string, text: string) => notes.push(`${path}: ${text}`);
  const fields = fieldsOf(seen, { isReserved, note }).map(lineOf);
  assertEquals(fields, [
    "f: Class{ salt: String required hidden} required",
  ]);
  assertEquals(notes, [
    "f._bsontype: 2 String: not declared, no field can have the name",
    "f.salt: hidden, because of its name or a name in it",
  ]);
});

/** Whether a class with a field of the name cannot be a model. */
function isRefused(name: string): boolean {
  class NewReserved extends FrameworkModel {}
  try {
    (define as (target: ModelClass, options: object) => void)(NewReserved, {
      fields: { [name]: {} },
    });
    buildSchema(NewReserved);
    return false;
  } catch {
    return true;
  }
}

const NAMES = new Set([
  ...[mongoose.Model.prototype, mongoose.Document.prototype].flatMap((each) =>
    Object.getOwnPropertyNames(each)
  ),
  ...[
    "id",
    "collection",
    "errors",
    "isNew",
    "schema",
    "db",
    "_doc",
    "on",
    "parent",
    "constructor",
  ],
  ...[
    "prototype",
    "name",
    "type",
    "length",
    "static",
    "size",
    "discriminators",
    "a b",
    "1",
    "класс",
    " ",
    "a/b",
    "a:b",
    "a[0]",
    "a$b",
    "a,b",
    "-a",
    "😀",
    "*/",
  ],
]);

Deno.test("fieldsOf() declares all fields but for those that the schemas of models refuse", () => {
  for (const name of NAMES) {
    const { fields } = infer([{ [name]: "x" }]);
    assertEquals([name, fields.length === 0], [name, isRefused(name)]);
  }
});

Deno.test("identifierOf() returns a type that paths can name", () => {
  const cases = [
    [[id], "ObjectId"],
    [["a"], "String"],
    [[1, Long.fromNumber(2)], "Number"],
    [[new UUID()], "UUID"],
    [[id, "a"], undefined],
    [[{ a: 1 }], undefined],
    [[new Date()], undefined],
    [[Long.MAX_VALUE], undefined],
  ] as const;
  for (const [ids, expected] of cases) {
    assertEquals(identifierOf(infer(ids.map((each) => ({ _id: each }))).seen), expected);
  }
});

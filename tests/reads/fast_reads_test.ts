import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { openDatabase } from "../harness/database.ts";
import { casesOf } from "../harness/report.ts";
import { longTest, test } from "../harness/testing.ts";
import { cases, models } from "../support/made/arbitrary_models.ts";
import { FIELD_NAMES, POOL, SCALAR_FIELDS, texts } from "../support/made/arbitrary_values.ts";
import { type FieldGiven, makeModel } from "../support/made/made_model.ts";
import { bsonOf, insertRaw, textOf } from "../support/made/raw_bson.ts";
import { listsOf, serveMade, type Shown } from "../support/made/serve_made.ts";

const { Types } = mongoose;
const { Binary, BSONSymbol, Code, DBRef, Double, Int32, Long, MaxKey, MinKey, Timestamp, UUID } =
  mongoose.mongo;

/** Every failure names its seed; a number here makes a run longer. */
const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? casesOf(30));

test("all() answers without documents what it answers with them when anything is stored", async () => {
  await using _database = await openDatabase();
  await fc.assert(
    fc.asyncProperty(cases, async ({ fields, documents }) => {
      await using app = await serveMade(fields);
      await app.stored.insertMany(documents.map((each) => ({ ...each })));
      const [fast, slow] = await listsOf(app);
      assertEquals(fast, slow);
    }),
    { numRuns: RUNS },
  );
});

test("create() stores what all() answers by either path", async () => {
  await using _database = await openDatabase();
  const bodies = fc.dictionary(fc.constantFrom(...FIELD_NAMES), fc.oneof(fc.jsonValue(), texts), {
    maxKeys: 6,
  });
  const posted = fc.tuple(
    models({ selectable: true, depth: 1, identified: false }),
    fc.array(bodies, { minLength: 1, maxLength: 6 }),
  );
  await fc.assert(
    fc.asyncProperty(posted, async ([{ fields }, each]) => {
      await using app = await serveMade(fields);
      const replies = [];
      for (const body of each) {
        replies.push(await app.post("/fast", body));
      }
      assert(replies.every(({ status }) => status === 201 || status === 400));
      const [fast, slow] = await listsOf(app);
      assertEquals(fast, slow);
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

/** A model with a field of every type. */
const EVERY: Record<string, FieldGiven> = {
  string: { array: false, options: {} },
  ...Object.fromEntries(
    SCALAR_FIELDS.slice(1).map(([type], index) => [
      `scalar${index}`,
      { array: false, options: { type } },
    ]),
  ),
  ...Object.fromEntries(SCALAR_FIELDS.map(([type], index) => [
    `array${index}`,
    { array: true, options: { items: type } },
  ])),
  mixed: { array: false, options: { type: Object } },
  map: { array: false, options: { type: Map } },
  mapOfText: { array: false, options: { type: Map, of: String } },
};

/** Values of every BSON type, good and bad ones. */
const VALUES: Record<string, unknown> = {
  text: "x",
  digits: "5",
  empty: "",
  hex: POOL[0],
  int: new Int32(5),
  zero: new Double(-0),
  half: 1.5,
  nan: NaN,
  infinity: Infinity,
  huge: 1e300,
  long: Long.fromString("5"),
  beyond: Long.fromString("9007199254740993"),
  edge: Long.fromString("9007199254740992"),
  yes: true,
  date: new Date(0),
  yearZero: new Date("0000-01-01"),
  none: null,
  id: new Types.ObjectId(POOL[0]),
  decimal: Types.Decimal128.fromString("1.50"),
  bytes: new Binary(Buffer.from("hi")),
  old: new Binary(Buffer.from("hi"), 2),
  uuid: new UUID("01234567-89ab-4def-8123-456789abcdef"),
  short: new Binary(Buffer.from("x"), 4),
  regex: /a\/b/gi,
  stamp: new Timestamp({ t: 1, i: 2 }),
  min: new MinKey(),
  max: new MaxKey(),
  code: new Code("x"),
  scoped: new Code("x", { a: 1 }),
  symbol: new BSONSymbol("s"),
  ref: new DBRef("c", new Types.ObjectId(POOL[0])),
  object: { a: "x", secret: "s" },
  nothing: {},
  list: [],
  texts: ["a", "b"],
  numbers: [1, 2.5],
  mixed: ["a", 1, null, { a: 1 }, [1]],
  nulls: [null],
};

test("all() answers the same by either path for every value in every field", async () => {
  await using _database = await openDatabase();
  await using app = await serveMade(EVERY);
  const documents = Object.keys(EVERY).flatMap((field) =>
    Object.entries(VALUES).map(([what, value]) => ({ _id: `${field} ${what}`, [field]: value }))
  );
  await app.stored.insertMany(documents as never[]);
  const [fast, slow] = await listsOf(app) as Shown[][];
  assertEquals(fast?.length, documents.length);
  for (const [index, shown] of (fast ?? []).entries()) {
    assertEquals(shown, slow?.[index], documents[index]?._id);
  }
});

const BAD_TEXT = textOf(Uint8Array.from([0x61, 0xff, 0xed, 0xa0, 0x80, 0xc3]));
const NOTHING = Buffer.alloc(0);
/** Documents that no driver would write. */
const UNWRITTEN = [
  bsonOf([[0x02, "a", BAD_TEXT], [0x02, "other", BAD_TEXT], [
    0x03,
    "free",
    bsonOf([[0x02, "k", BAD_TEXT]]),
  ]]),
  bsonOf([[0x06, "a", NOTHING], [
    0x03,
    "free",
    bsonOf([[0x06, "k", NOTHING], [0x10, "l", Buffer.alloc(4)]]),
  ]]),
  bsonOf([[0x02, "a", textOf("1")], [0x02, "a", textOf("2")]]),
  bsonOf([[0x04, "list", bsonOf([[0x02, "0", textOf("a")], [0x06, "1", NOTHING]])]]),
  bsonOf([[0x04, "list", bsonOf([[0x02, "7", textOf("a")], [0x02, "7", textOf("b")]])]]),
  bsonOf([[0x09, "a", Buffer.alloc(8, 0x7f)], [
    0x03,
    "free",
    bsonOf([[0x09, "k", Buffer.alloc(8, 0x7f)]]),
  ]]),
  bsonOf([[0x03, "free", bsonOf([[0x02, Uint8Array.from([0xff]), textOf("x")]])]]),
];

const ODD = {
  a: { array: false, options: { default: "d" } },
  free: { array: false, options: { type: Object } },
  map: { array: false, options: { type: Map, of: String } },
  list: { array: true, options: { items: String } },
};

test("all() answers the same by either path for what no driver would write", async () => {
  await using database = await openDatabase();
  await using app = await serveMade(ODD);
  await insertRaw(database.uri, { collection: app.stored.collectionName, documents: UNWRITTEN });
  const [fast, slow] = await listsOf(app) as Shown[][];
  assertEquals(fast?.length, UNWRITTEN.length);
  for (const [index, shown] of (fast ?? []).entries()) {
    assertEquals(shown, slow?.[index], `${index}`);
  }
});

test("all() shows nothing by either path that is not declared, hidden or not selected", async () => {
  await using _database = await openDatabase();
  const secrets = {
    shown: { array: false, options: {} },
    hidden: { array: false, options: { hidden: true } },
    unselected: { array: false, options: { select: false } },
  };
  const inner = makeModel(secrets);
  const fields = {
    ...secrets,
    odd: { array: false, options: { type: Object } },
    one: { array: false, options: { type: inner } },
    many: { array: true, options: { items: inner, embedded: true } },
  };
  await using app = await serveMade(fields);
  const values = { shown: "yes", hidden: "SECRET", unselected: "SECRET", undeclared: "SECRET" };
  const nested = { one: values, many: [values, values] };
  const wrong = { one: [values], many: values, hidden: values };
  const extra = { SECRET: "SECRET", deep: { hidden: "SECRET" } };
  const documents = [values, nested, wrong, extra].flatMap((
    each,
  ) => [each, { ...each, odd: /x/ }]);
  await app.stored.insertMany(documents.map((each) => ({ ...each })));
  for (const route of ["fast", "slow"]) {
    const { text } = await app.get(`/${route}`);
    assertEquals([text.includes("SECRET"), text.includes("yes")], [false, true]);
  }
});

test("all() shows no secret of objects that are stored in a map's or an array's place", async () => {
  await using _database = await openDatabase();
  const inner = makeModel(
    { h: { array: false, options: { hidden: true } } },
    { _id: false },
  );
  const fields = {
    map: { array: false, options: { type: Map, of: inner } },
    list: { array: true, options: { items: inner, embedded: true } },
    one: { array: false, options: { type: inner } },
  };
  const secret = { h: "SECRET", k: { h: "SECRET" } };
  const places = [[secret], [[secret]], { a: secret }, { a: [secret] }, [["a", secret]], secret];
  await using app = await serveMade(fields);
  await app.stored.insertMany(
    Object.keys(fields).flatMap((name) => places.map((place) => ({ [name]: place }))),
  );
  const [fast, slow] = await listsOf(app);
  assertEquals(fast, slow);
  assertEquals(JSON.stringify(fast).includes("SECRET"), false);
});

longTest("all() answers documents of 16 MB", async () => {
  await using _database = await openDatabase();
  const fields = {
    text: { array: false, options: {} },
    bytes: { array: false, options: { type: Buffer } },
    numbers: { array: true, options: { items: Number } },
  };
  await using app = await serveMade(fields);
  const text = 'a"é\u0001'.repeat(3_000_000);
  const bytes = new Binary(Buffer.alloc(15_900_000, 7));
  const numbers = Array.from({ length: 900_000 }, (_, i) => i);
  for (const each of [{ text }, { bytes }, { numbers }]) await app.stored.insertOne({ ...each });
  const { body } = await app.get<Shown[]>("/fast");
  assertEquals(body[0]?.text, text);
  assertEquals(body[1]?.bytes, bytes.toString("base64"));
  assertEquals((body[2]?.numbers as number[]).length, numbers.length);
  const { body: single } = await app.get<Shown>(`/fast/${body[0]?._id}`);
  assertEquals(single, body[0]);
});

longTest("all() answers maps with thousands of keys", async () => {
  await using _database = await openDatabase();
  const inner = makeModel(
    { n: { array: false, options: { type: Number } } },
    { _id: false },
  );
  const fields = {
    texts: { array: false, options: { type: Map, of: String } },
    parts: { array: false, options: { type: Map, of: inner } },
  };
  const keys = Array.from({ length: 20_000 }, (_, i) => i % 2 ? `key ${i}` : `${i}`);
  await using app = await serveMade(fields);
  const texts = Object.fromEntries(keys.map((key) => [key, `${key}"`]));
  const parts = Object.fromEntries(keys.map((key, n) => [key, { n, other: 1 }]));
  await app.stored.insertOne({ texts, parts });
  const [fast, slow] = await listsOf(app) as Shown[][];
  assertEquals(fast, slow);
  assertEquals(fast?.[0]?.texts, texts);
});

test("all() knows more fields with a default than an integer has bits", async () => {
  await using _database = await openDatabase();
  const names = Array.from({ length: 80 }, (_, i) => `f${i}`);
  const fields = Object.fromEntries(names.map((name): [string, FieldGiven] => [
    name,
    { array: true, options: { items: Number } },
  ]));
  await using app = await serveMade(fields);
  await app.stored.insertMany([{}, { f3: [1] }, { f79: [2] }, { f40: null }]);
  const [fast, slow] = await listsOf(app);
  assertEquals(fast, slow);
});

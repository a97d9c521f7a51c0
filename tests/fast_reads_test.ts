import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { getModel } from "../mod.ts";
import type { ModelClass } from "../mod.ts";
import { Patience } from "../src/database/patience.ts";
import type { ReadMode } from "../src/database/read_batches.ts";
import { buildSchema } from "../src/schema/build_schema.ts";
import { describeShape } from "../src/schema/fields/shape.ts";
import { JsonReader } from "../src/sources/direct/reads/json_reader.ts";
import { openDatabase } from "./harness/database.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import {
  bsonOf,
  type FieldGiven,
  insertRaw,
  makeModel,
  serveModels,
  type Shown,
  stored,
  textOf,
} from "./both_paths.ts";

const { Types } = mongoose;
const { Binary, BSONRegExp, BSONSymbol, Code, DBRef, Double, Int32, Long, MaxKey, MinKey } =
  mongoose.mongo;
const { Timestamp, UUID } = mongoose.mongo;

/** Identifiers of embedded objects: any other that an answer shows was made up by Mongoose. */
const POOL = ["0123456789abcdef01234567", "fedcba9876543210fedcba98", "aaaaaaaaaaaaaaaaaaaaaaaa"];

const FIELD_NAMES = ["a", "b", "c", "10", "2", "é", 'q"t', "with space", "_x", "back\\slash"];

const KEYS = [
  ...FIELD_NAMES,
  "",
  "$a",
  "a.b",
  "__proto__",

  "prototype",
  "length",
  "h",
  "\u2028",
  "😀",
];

const texts = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "5", "true", '"\\\b\f\n\r\t\0\x7f', "\ud800", "x\udfff", "é".repeat(200)),
);
const int32s = fc.integer().map((value) => new Int32(value));
const doubles = fc.oneof(
  fc.double(),
  fc.constantFrom(NaN, Infinity, -Infinity, -0, 0, 2 ** 53, 2 ** 53 + 2, 1e21, 5e-324),
).map((value) => new Double(value));
const longs = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
  fc.constantFrom(2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), 0n, -1n),
).map((value) => Long.fromBigInt(value));
const decimals = fc.constantFrom(
  "0",
  "-0",
  "1.50",
  "1E+400",
  "NaN",
  "-Infinity",
  "123456789.123456789",
)
  .map((value) => Types.Decimal128.fromString(value));
const dates = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.constantFrom("0000-01-01", "0001-01-01", "9999-12-31", "+010000-01-01T00:00:00Z")
    .map((value) => new Date(value)),
  fc.constantFrom("-000001-01-01T00:00:00Z", "+275760-09-13T00:00:00Z").map((value) =>
    new Date(value)
  ),
);
const objectIds = fc.constantFrom(...POOL).map((value) => new Types.ObjectId(value));
const uuids = fc.uuid().map((value) => new UUID(value));
const binaries = fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.constantFrom(0, 1, 2, 3, 4, 5, 128))
  .map(([bytes, subtype]) => new Binary(Buffer.from(bytes), subtype));
const oddities = fc.constantFrom(
  new Timestamp({ t: 2 ** 32 - 1, i: 5 }),
  /a\/b/gims,
  new BSONRegExp("^a.*", "imx"),
  new MinKey(),
  new MaxKey(),
  new Code("x => x"),
  new Code("x", { y: 1 }),
  new BSONSymbol("symbol"),
  new DBRef("c", new Types.ObjectId(POOL[0])),
);
const scalars = fc.oneof(
  texts,
  int32s,
  doubles,
  longs,
  decimals,
  dates,
  objectIds,
  uuids,
  binaries,
  oddities,
  fc.boolean(),
  fc.constant(null),
);

/** Any BSON value. */
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie("value"), { maxKeys: 5 }).map(ownKeys),
  ),
}));

/** The driver looks at prototypes; the keys of an object are all its own. */
function ownKeys(value: Record<string, unknown>): object {
  const result = {};
  for (const [key, each] of Object.entries(value)) {
    const descriptor = { value: each, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(result, key, descriptor);
  }
  return result;
}

/** A field with values that are as they should be. */
interface Field extends FieldGiven {
  readonly values: fc.Arbitrary<unknown>;
}

const SCALAR_FIELDS: [unknown, fc.Arbitrary<unknown>, unknown][] = [
  [String, texts, "x"],
  [Number, fc.oneof(int32s, doubles, longs), 5],
  [Boolean, fc.boolean(), false],
  [Date, dates, () => new Date(0)],
  [BigInt, fc.oneof(longs, int32s), 5n],
  [Buffer, binaries, undefined],
  [Types.ObjectId, objectIds, undefined],
  [Types.Decimal128, decimals, undefined],
  [Types.UUID, uuids, undefined],
  [mongoose.Schema.Types.Int32, int32s, 1],
  [mongoose.Schema.Types.Double, doubles, 1.5],
];

/** Options that keep a field out of answers; no field of what a map holds can be left out by `select`. */
function flags(selectable: boolean) {
  return fc.record({
    hidden: fc.constantFrom({}, {}, {}, { hidden: true }),
    select: fc.constantFrom({}, {}, {}, selectable ? { select: false } : {}),
  }).map(({ hidden, select }) => ({ ...hidden, ...select }));
}

function scalarFields(selectable: boolean): fc.Arbitrary<Field> {
  const defaults = fc.constantFrom("none", "none", "null", "own");
  const kinds = fc.constantFrom("one", "one", "array", "map");
  return fc.tuple(fc.constantFrom(...SCALAR_FIELDS), flags(selectable), defaults, kinds).map(
    ([[type, values, standsFor], shared, given, kind]) => {
      if (kind === "array") {
        const list = fc.array(fc.oneof({ weight: 9, arbitrary: values }, fc.constant(null)));
        return { array: true, options: { items: type, ...shared }, values: list };
      }
      if (kind === "map") {
        return { array: false, options: { type: Map, of: type, ...shared }, values: keyed(values) };
      }
      const own = given === "null" ? { default: null } : { default: standsFor };
      return { array: false, options: { type, ...shared, ...given !== "none" && own }, values };
    },
  );
}

const freeFields: fc.Arbitrary<Field> = fc.constantFrom<Field>(
  { array: false, options: { type: Object }, values: anything },
  { array: true, options: { items: Object }, values: fc.array(anything, { maxLength: 3 }) },
  { array: false, options: { type: Map }, values: keyed(anything) },
  { array: false, options: { type: Object, hidden: true }, values: anything },
  { array: false, options: { type: Object, default: () => ({}) }, values: anything },
);

/** Objects whose keys a map can have. */
function keyed(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const keys = fc.constantFrom("a", "b", "10", "2", "é", "length", 'q"', "");
  return fc.dictionary(keys, values, { maxKeys: 4 }).map((value) => ownKeys(value));
}

/** Fields, and objects that hold them: mostly as they should be, sometimes anything, with data of others between. */
interface Model {
  readonly fields: Record<string, FieldGiven>;
  readonly objects: fc.Arbitrary<object>;
}

function modelOf(fields: Record<string, Field>, identified: boolean): Model {
  const entries = Object.entries(fields).map((
    [name, { values }],
  ): [string, fc.Arbitrary<unknown>] => [
    name,
    fc.oneof({ weight: 12, arbitrary: values }, { weight: 1, arbitrary: anything }),
  ]);
  const objects = fc.tuple(
    fc.record(Object.fromEntries(entries), { requiredKeys: [] }),
    fc.dictionary(fc.constantFrom("other", "hidden", "__v", "zz"), anything, { maxKeys: 2 }),
    objectIds,
    fc.boolean(),
  ).map(([declared, others, _id, before]) =>
    ownKeys({
      ...before && others,
      ...identified && { _id },
      ...declared,
      ...others,
    })
  );
  const given = Object.entries(fields).map((
    [name, { array, options }],
  ) => [name, { array, options }]);
  return { fields: Object.fromEntries(given), objects };
}

/** Fields that hold objects of a class, alone, in arrays or in maps. */
function embeddedFields(selectable: boolean, depth: number): fc.Arbitrary<Field> {
  return fc.tuple(fc.boolean(), fc.constantFrom("one", "array", "map"), flags(selectable)).chain(
    ([identified, kind, shared]) =>
      models(selectable && kind !== "map" && !("select" in shared), depth - 1, identified).map(
        ({ fields, objects }) => {
          const type = makeModel(fields, identified ? {} : { _id: false }, false);
          if (kind === "array") {
            const values = fc.array(objects, { maxLength: 3 });
            return { array: true, options: { items: type, embedded: true, ...shared }, values };
          }
          return kind === "map"
            ? { array: false, options: { type: Map, of: type, ...shared }, values: keyed(objects) }
            : { array: false, options: { type, ...shared }, values: objects };
        },
      ),
  );
}

function models(selectable: boolean, depth: number, identified: boolean): fc.Arbitrary<Model> {
  const leaves = fc.oneof({ weight: 5, arbitrary: scalarFields(selectable) }, freeFields);
  const fields = depth === 0 ? leaves : fc.oneof({ weight: 5, arbitrary: leaves }, {
    weight: 3,
    arbitrary: embeddedFields(selectable, depth),
  });
  return fc.dictionary(fc.constantFrom(...FIELD_NAMES), fields, { minKeys: 1, maxKeys: 6 }).map(
    (given) => modelOf(given, identified),
  );
}

/** A random model, and documents for it. */
interface Case {
  readonly fields: Record<string, FieldGiven>;
  readonly documents: readonly object[];
}

const cases: fc.Arbitrary<Case> = models(true, 2, false).chain(({ fields, objects }) =>
  fc.array(objects, { minLength: 1, maxLength: 8 }).map((documents) => ({
    fields,
    documents,
    [fc.toStringMethod]: () => Deno.inspect({ fields, documents }, { depth: 8 }),
  }))
);

/** Takes the identifiers out that Mongoose has made up for embedded objects. */
function withoutMadeUp(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutMadeUp(each, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, each]) =>
    key !== "_id" || depth < 2 || POOL.includes(each as string)
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutMadeUp(each, depth + 1)]));
}

let count = 0;

/** Serves a new model, gives its URL and collection to a test, and takes it away again. */
async function withModel(
  fields: Record<string, FieldGiven>,
  act: (url: string, collection: mongoose.mongo.Collection, model: ModelClass) => Promise<void>,
): Promise<void> {
  const collection = `made${++count}`;
  const model = makeModel(fields, { collection, autoCreate: false, autoIndex: false }, true);
  const served = await serveModels([model]);
  try {
    await act(served.url, stored(collection), model);
  } finally {
    await served.stop();
    await stored(collection).drop();
  }
}

/** Every failure names its seed; a number here makes a run longer. */
const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? 60);

async function bothOf(url: string, path = ""): Promise<unknown[]> {
  const [fast, slow] = await Promise.all(
    ["fast", "slow"].map((route) => request<Shown[]>(`${url}/${route}${path}`)),
  );
  assertEquals([fast?.status, slow?.status], [200, 200], `${fast?.text} ${slow?.text}`);
  return [fast?.body, slow?.body].map((body) => withoutMadeUp(body));
}

test("all() answers without documents what it answers with them when anything is stored", async () => {
  await using _database = await openDatabase();
  await fc.assert(
    fc.asyncProperty(cases, async ({ fields, documents }) => {
      await withModel(fields, async (url, collection) => {
        await collection.insertMany(documents.map((each) => ({ ...each })));
        const [fast, slow] = await bothOf(url);
        assertEquals(fast, slow);
      });
    }),
    { numRuns: RUNS },
  );
});

test("create() stores what all() answers by either path", async () => {
  await using _database = await openDatabase();
  const bodies = fc.dictionary(fc.constantFrom(...FIELD_NAMES), fc.oneof(fc.jsonValue(), texts), {
    maxKeys: 6,
  });
  const posted = fc.tuple(models(true, 1, false), fc.array(bodies, { minLength: 1, maxLength: 6 }));
  await fc.assert(
    fc.asyncProperty(posted, async ([{ fields }, each]) => {
      await withModel(fields, async (url) => {
        const replies = [];
        for (const body of each) {
          replies.push(await request<Shown>(`${url}/fast`, { method: "POST", body }));
        }
        assert(replies.every(({ status }) => status === 201 || status === 400));
        const [fast, slow] = await bothOf(url);
        assertEquals(fast, slow);
      });
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

test("JsonReader.read() gives the same in every mode", async () => {
  await using _database = await openDatabase();
  const modes: ReadMode[] = ["reply", "plain"];
  await fc.assert(
    fc.asyncProperty(cases, async ({ fields, documents }) => {
      await withModel(fields, async (_url, collection, model) => {
        await collection.insertMany(documents.map((each) => ({ ...each })));
        const texts = await Promise.all(modes.map((mode) => readAs(model, mode)));
        const [reply, plain] = texts.map((text) => withoutMadeUp(JSON.parse(text)));
        assertEquals(plain, reply);
      });
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});

/** Reads all documents of a model as the text of a list. */
async function readAs(model: ModelClass, mode: ReadMode): Promise<string> {
  const shape = describeShape(buildSchema(model).schema);
  const reader = new JsonReader(getModel(model) as never, shape, mode);
  const query = { conditions: {}, projection: {}, options: { enableUtf8Validation: false } };
  const pieces: string[] = [];
  for await (const piece of reader.read(query, new Patience(10_000))) {
    pieces.push(piece.toString());
  }
  return `[${pieces.join(",")}]`;
}

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
  await withModel(EVERY, async (url, collection) => {
    const documents = Object.keys(EVERY).flatMap((field) =>
      Object.entries(VALUES).map(([what, value]) => ({ _id: `${field} ${what}`, [field]: value }))
    );
    await collection.insertMany(documents as never[]);
    const [fast, slow] = await bothOf(url) as Shown[][];
    assertEquals(fast?.length, documents.length);
    for (const [index, shown] of (fast ?? []).entries()) {
      assertEquals(shown, slow?.[index], documents[index]?._id);
    }
  });
});

const BAD_TEXT = textOf(Uint8Array.from([0x61, 0xff, 0xed, 0xa0, 0x80, 0xc3]));
const NOTHING = Buffer.alloc(0);
const TWICE = bsonOf([[0x02, "x", textOf("1")], [0x02, "y", textOf("2")], [
  0x02,
  "x",
  textOf("3"),
]]);
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
  bsonOf([[0x02, "a", textOf("1")], [0x02, "a", textOf("2")], [0x03, "free", TWICE]]),
  bsonOf([[0x02, "a", textOf("1")], [0x06, "a", NOTHING], [0x03, "map", TWICE]]),
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
  await withModel(ODD, async (url, { collectionName }) => {
    await insertRaw(database.uri, collectionName, UNWRITTEN);
    const [fast, slow] = await bothOf(url) as Shown[][];
    assertEquals(fast?.length, UNWRITTEN.length);
    for (const [index, shown] of (fast ?? []).entries()) {
      assertEquals(shown, slow?.[index], `${index}`);
    }
  });
});

test("all() answers each key once when a document holds it twice", async () => {
  await using database = await openDatabase();
  const fields = {
    a: { array: false, options: {} },
    free: { array: false, options: { type: Object } },
  };
  const twice = bsonOf([[0x02, "k", textOf("1")], [0x02, "k", textOf("2")]]);
  const document = bsonOf([[0x02, "a", textOf("1")], [0x02, "a", textOf("2")], [
    0x03,
    "free",
    twice,
  ]]);
  await withModel(fields, async (url, { collectionName }) => {
    await insertRaw(database.uri, collectionName, [document]);
    const { text } = await request(`${url}/fast`);
    assertEquals(text.match(/"(a|k)":/g), ['"a":', '"k":']);
    assertEquals(text.match(/"[12]"/g), ['"2"', '"2"']);
  });
});

test("all() shows nothing by either path that is not declared, hidden or not selected", async () => {
  await using _database = await openDatabase();
  const secrets = {
    shown: { array: false, options: {} },
    hidden: { array: false, options: { hidden: true } },
    unselected: { array: false, options: { select: false } },
  };
  const inner = makeModel(secrets, {}, false);
  const fields = {
    ...secrets,
    odd: { array: false, options: { type: Object } },
    one: { array: false, options: { type: inner } },
    many: { array: true, options: { items: inner, embedded: true } },
  };
  await withModel(fields, async (url, collection) => {
    const values = { shown: "yes", hidden: "SECRET", unselected: "SECRET", undeclared: "SECRET" };
    const nested = { one: values, many: [values, values] };
    const wrong = { one: [values], many: values, hidden: values };
    const extra = { SECRET: "SECRET", deep: { hidden: "SECRET" } };
    const documents = [values, nested, wrong, extra].flatMap((
      each,
    ) => [each, { ...each, odd: /x/ }]);
    await collection.insertMany(documents.map((each) => ({ ...each })));
    for (const route of ["fast", "slow"]) {
      const { text } = await request(`${url}/${route}`);
      assertEquals([text.includes("SECRET"), text.includes("yes")], [false, true]);
    }
  });
});

test("all() shows no secret of objects that are stored in a map's or an array's place", async () => {
  await using _database = await openDatabase();
  const inner = makeModel(
    { h: { array: false, options: { hidden: true } } },
    { _id: false },
    false,
  );
  const fields = {
    map: { array: false, options: { type: Map, of: inner } },
    list: { array: true, options: { items: inner, embedded: true } },
    one: { array: false, options: { type: inner } },
  };
  const secret = { h: "SECRET", k: { h: "SECRET" } };
  const places = [[secret], [[secret]], { a: secret }, { a: [secret] }, [["a", secret]], secret];
  await withModel(fields, async (url, collection) => {
    await collection.insertMany(
      Object.keys(fields).flatMap((name) => places.map((place) => ({ [name]: place }))),
    );
    const [fast, slow] = await bothOf(url);
    assertEquals(fast, slow);
    assertEquals(JSON.stringify(fast).includes("SECRET"), false);
  });
});

test("all() answers documents of 16 MB", async () => {
  await using _database = await openDatabase();
  const fields = {
    text: { array: false, options: {} },
    bytes: { array: false, options: { type: Buffer } },
    numbers: { array: true, options: { items: Number } },
  };
  await withModel(fields, async (url, collection) => {
    const text = 'a"é\u0001'.repeat(3_000_000);
    const bytes = new Binary(Buffer.alloc(15_900_000, 7));
    const numbers = Array.from({ length: 900_000 }, (_, i) => i);
    for (const each of [{ text }, { bytes }, { numbers }]) await collection.insertOne({ ...each });
    const { body } = await request<Shown[]>(`${url}/fast`);
    assertEquals(body[0]?.text, text);
    assertEquals(body[1]?.bytes, bytes.toString("base64"));
    assertEquals((body[2]?.numbers as number[]).length, numbers.length);
    const { body: single } = await request<Shown>(`${url}/fast/${body[0]?._id}`);
    assertEquals(single, body[0]);
  });
});

test("all() answers maps with thousands of keys", async () => {
  await using _database = await openDatabase();
  const inner = makeModel(
    { n: { array: false, options: { type: Number } } },
    { _id: false },
    false,
  );
  const fields = {
    texts: { array: false, options: { type: Map, of: String } },
    parts: { array: false, options: { type: Map, of: inner } },
  };
  const keys = Array.from({ length: 20_000 }, (_, i) => i % 2 ? `key ${i}` : `${i}`);
  await withModel(fields, async (url, collection) => {
    const texts = Object.fromEntries(keys.map((key) => [key, `${key}"`]));
    const parts = Object.fromEntries(keys.map((key, n) => [key, { n, other: 1 }]));
    await collection.insertOne({ texts, parts });
    const [fast, slow] = await bothOf(url) as Shown[][];
    assertEquals(fast, slow);
    assertEquals(fast?.[0]?.texts, texts);
  });
});

test("all() knows more fields with a default than an integer has bits", async () => {
  await using _database = await openDatabase();
  const names = Array.from({ length: 80 }, (_, i) => `f${i}`);
  const fields = Object.fromEntries(names.map((name): [string, FieldGiven] => [
    name,
    { array: true, options: { items: Number } },
  ]));
  await withModel(fields, async (url, collection) => {
    await collection.insertMany([{}, { f3: [1] }, { f79: [2] }, { f40: null }]);
    const [fast, slow] = await bothOf(url);
    assertEquals(fast, slow);
  });
});

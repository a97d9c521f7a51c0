import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { openDatabase } from "../../../tests/harness/database.ts";
import { casesOf } from "../../../tests/harness/report.ts";
import { test } from "../../../tests/harness/testing.ts";
import { withConditions } from "../../filter/cast_filter.ts";
import type { Filter } from "../../filter/filters.ts";
import { type Order, SEEK_READ, sortValues } from "../../filter/order.ts";
import { seek, seekInOneScan } from "./seek.ts";

const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? casesOf(100, 30));
const { Binary, Decimal128, Double, Int32, Long, ObjectId, UUID } = mongoose.mongo;

/** Values of each bracket, with neighbours that only an exact comparison tells apart. */
const VALUES: readonly (readonly unknown[])[] = [
  [null],
  [new Int32(5), new Long(5), new Double(5), Decimal128.fromString("5.0"), new Double(5.5)],
  [new Double(0), new Double(-0), Decimal128.fromString("-0"), new Int32(-1)],
  [new Double(NaN), Decimal128.fromString("NaN"), new Double(-Infinity), new Double(Infinity)],
  [Long.fromString("9007199254740993"), new Double(2 ** 53), Decimal128.fromString("0.1")],
  [new Double(0.1), Decimal128.fromString("1E+400"), Long.MAX_VALUE, Long.MIN_VALUE],
  ["", "a", "A", "é", "b", "5"],
  [{}, { a: new Int32(1) }, { a: "x", b: null }, { b: new Int32(0) }],
  [new Binary(Buffer.alloc(0)), new Binary(Buffer.from("x"), 5), new Binary(Buffer.from("ab"))],
  [new UUID("123e4567-e89b-42d3-a456-426614174000")],
  [new ObjectId("0".repeat(24)), new ObjectId("f".repeat(24)), new ObjectId("5".repeat(24))],
  [true, false],
  [new Date(0), new Date(-1), new Date(1), new Date("9999-12-31")],
];

const scalar = fc.oneof(...VALUES.map((each) => fc.constantFrom(...each)));
/** Lists that others have stored where single values are declared. */
const list = fc.array(scalar.filter((each) => each !== null), { minLength: 1, maxLength: 3 });
const inner = fc.record({ owner: fc.oneof({ arbitrary: scalar, weight: 4 }, list) }, {
  requiredKeys: [],
});
const document = fc.record({
  number: fc.oneof({ arbitrary: scalar, weight: 4 }, list),
  text: scalar,
  date: scalar,
  inner: fc.oneof(inner, fc.constant(new Int32(5))),
}, { requiredKeys: [] });

/** An identifier for each number; most are as the entities of the framework have them. */
const IDS: readonly ((n: number) => unknown)[] = [
  (n) => new ObjectId(String(n).padStart(24, "0")),
  (n) => new ObjectId(String(n).padEnd(24, "f")),
  (n) => String(n),
  (n) => new Double(n + 0.5),
  (n) => new Date(n),
  (n) => ({ n }),
  (n) => new Binary(Buffer.from([n])),
  (n) => n === 8 ? null : new Long(n),
];
const documents = fc.shuffledSubarray([...Array(24).keys()], { minLength: 12, maxLength: 24 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((n) => document.map((each) => ({ _id: IDS[n % IDS.length]?.(n), ...each }))),
    )
  );

const direction = fc.constantFrom<1 | -1>(1, -1);
/** Only one of the paths may lead to lists: the database sorts by no two of them. */
const order = fc.tuple(
  fc.constantFrom("number", "inner.owner").chain((path) =>
    fc.shuffledSubarray([path, "text", "date"], { maxLength: 3 })
  ),
  fc.tuple(direction, direction, direction, direction),
).map(([paths, directions]): Order =>
  Object.fromEntries([...paths, "_id"].map((path, index) => [path, directions[index] ?? 1]))
);

const SCHEMA = new mongoose.Schema({
  number: Number,
  text: { type: String, lowercase: true },
  date: Date,
  inner: { owner: mongoose.Schema.Types.ObjectId },
}, { autoCreate: false, autoIndex: false });

/** The model, on the default connection of the test that runs. */
function sought(): mongoose.Model<unknown> {
  const { models } = mongoose.connection;
  return (models.Sought ?? mongoose.model("Sought", SCHEMA)) as unknown as mongoose.Model<unknown>;
}

interface Reading {
  readonly order: Order;
  readonly collation?: { readonly locale: string; readonly strength: number };
  readonly inOneScan?: boolean;
}

/** Reads the raw documents that a condition selects, past what Mongoose casts when it reads. */
async function read(conditions: Filter, { order, collation }: Reading, options: object = {}) {
  const query = withConditions(sought().find(), conditions).sort(order as never).lean();
  if (collation) query.collation(collation);
  const found = await query.setOptions({ ...SEEK_READ, ...options });
  return found as { _id: unknown }[];
}

/** Reads pages until there is none; each begins behind the last entity of the one before. */
async function readPages(reading: Reading, sizes: readonly number[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  const { order, inOneScan = false } = reading;
  let page = await read({}, reading, { limit: sizes[0] });
  for (let turn = 1; page.length > 0 && seen.length < 100; turn++) {
    seen.push(...page.map(({ _id }) => _id));
    const values = sortValues(page.at(-1) ?? {}, Object.keys(order));
    const behind = (inOneScan ? seekInOneScan : seek)(order, values);
    page = await read(behind, reading, { limit: sizes[turn % sizes.length] });
  }
  return seen;
}

const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 });

async function store(documents: readonly object[]): Promise<void> {
  await sought().collection.deleteMany({});
  await sought().collection.dropIndexes().catch(() => {});
  await sought().collection.insertMany(documents as never[], { forceServerObjectId: true });
}

async function checkPages(reading: Reading, sizes: readonly number[]): Promise<void> {
  const sorted = (await read({}, reading)).map(({ _id }) => _id);
  assertEquals(await readPages(reading, sizes), sorted);
}

test("seek() gives pages that make up the list as the database sorts it", async () => {
  await using _database = await openDatabase();
  const property = fc.asyncProperty(
    documents,
    order,
    sizes,
    fc.boolean(),
    fc.boolean(),
    async (documents, order, sizes, isIndexed, inOneScan) => {
      await store(documents);
      if (isIndexed && Object.keys(order).length > 1) {
        await sought().collection.createIndex(order).catch(() => {});
      }
      await checkPages({ order, inOneScan }, sizes);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
});

test("seek() compares strings by the collation of the query", async () => {
  await using _database = await openDatabase();
  const text = fc.constantFrom("", "a", "A", "ä", "b", "B", null, new Int32(1));
  const documents = fc.array(fc.record({ text }, { requiredKeys: [] }), {
    minLength: 1,
    maxLength: 12,
  });
  const property = fc.asyncProperty(documents, direction, sizes, async (found, text, sizes) => {
    await store(found.map((each, n) => ({ _id: IDS[0]?.(n), ...each })));
    for (const strength of [1, 2, 3]) {
      await checkPages({ order: { text, _id: 1 }, collation: { locale: "en", strength } }, sizes);
    }
  });
  await fc.assert(property, { numRuns: Math.ceil(RUNS / 4) });
});

/** Peculiarities of the database, by an order and values that stand in it one after the other. */
const ODDITIES: Readonly<Record<string, readonly [Order, readonly object[]]>> = {
  "alternatives are merged by values, where missing is before null": [
    { text: 1, date: 1, _id: 1 },
    [{}, { text: null }, {}, { date: new Double(0.1) }, { text: "a" }],
  ],
  "no range has NaN, which is behind all numbers in a descending order": [
    { number: -1, _id: 1 },
    [{ number: new Double(NaN) }, { number: new Int32(1) }, { number: new Int32(-1) }, {}],
  ],
  "no range has NaN, which is before all numbers": [
    { number: 1, _id: 1 },
    [{ number: new Double(NaN) }, { number: new Int32(1) }, { number: new Int32(-1) }, {}],
  ],
};

test("seek() allows for what the database does in ways of its own", async (t) => {
  await using _database = await openDatabase();
  for (const [name, [order, documents]] of Object.entries(ODDITIES)) {
    await t.step(name, async () => {
      await store(documents.map((each, n) => ({ _id: IDS[0]?.(n), ...each })));
      await checkPages({ order }, [1]);
      await sought().collection.createIndex(order);
      await checkPages({ order }, [1]);
    });
  }
});

/** Gives how many keys and documents the database looks at for a page, and whether an index gives the order. */
async function explain(order: Order, { skip, size }: { skip: number; size: number }) {
  const { collection } = sought();
  const last = await collection.find({}, SEEK_READ).sort(order).skip(skip).next();
  const { executionStats, queryPlanner } = await collection
    .find(seek(order, sortValues(last ?? {}, Object.keys(order)))).sort(order).limit(size).explain(
      "executionStats",
    );
  const { totalKeysExamined, totalDocsExamined } = executionStats;
  const isOrdered = !/"(SORT|COLLSCAN)"/.test(JSON.stringify(queryPlanner.winningPlan));
  return { examined: Math.max(totalKeysExamined, totalDocsExamined), isOrdered };
}

test("seek() begins in an index at the place of the entity", async (t) => {
  await using _database = await openDatabase();
  await store(Array.from({ length: 3000 }, (_, n) => ({
    _id: IDS[0]?.(n),
    text: String(n % 7),
    ...n % 3 === 0 ? {} : n % 3 === 1 ? { number: null } : { number: n % 4 },
  })));
  const orders: Order[] = [
    { _id: 1 },
    { _id: -1 },
    { number: 1, _id: 1 },
    { number: -1, _id: 1 },
    { number: -1, _id: -1 },
    { text: -1, number: 1, _id: 1 },
  ];
  for (const order of orders) {
    if (Object.keys(order).length > 1) await sought().collection.createIndex(order);
    for (const skip of [0, 500, 1500, 2600, 2975]) {
      await t.step(`${JSON.stringify(order)} after ${skip}`, async () => {
        const { examined, isOrdered } = await explain(order, { skip, size: 20 });
        assert(examined <= 30, `${examined} keys or documents`);
        assert(isOrdered, "the database sorts, or reads all documents");
      });
    }
  }
});

import { assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import mongoose from "mongoose";
import { appliedFields } from "../../src/store/writes/applied_fields.ts";
import { AS_STORED, setFields, type StoredObject, storedText } from "../../src/store/values.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";

const { Decimal128, Double, Int32, Long, ObjectId } = mongoose.mongo;

const IDS = [1, 2, 3].map((each) => new ObjectId(`${each}`.repeat(24)));

const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, "a", "b", 1, 2, 1.5),
  fc.constantFrom<unknown>(new Int32(1), new Double(1), Long.fromNumber(2 ** 40), IDS[0]),
);
const element = fc.oneof(
  scalar,
  fc.record({ _id: fc.constantFrom(...IDS), n: scalar }, { requiredKeys: ["_id"] }),
);
const list = fc.array(element, { maxLength: 4 });
const value = fc.oneof(scalar, list, fc.record({ x: scalar, y: list }, { requiredKeys: [] }));

/** Lists stand under `l`, other values under `v` and `o`. */
const stored = fc.record({
  v: value,
  o: fc.oneof(scalar, fc.record({ v: value, l: list, n: scalar }, { requiredKeys: [] })),
  l: list,
}, { requiredKeys: [] });

const each = fc.array(element, { maxLength: 3 }).map(($each) => ({ $each }));
const placed = fc.tuple(each, fc.integer({ min: -3, max: 5 }))
  .map(([added, $position]) => ({ ...added, $position }));

/** One operator at one path. Several operators of an update have different paths. */
const operation = fc.oneof(
  fc.record({
    operator: fc.constant("$set"),
    path: fc.constantFrom("v", "o.v", "o"),
    operand: value,
  }),
  fc.record({
    operator: fc.constant("$unset"),
    path: fc.constantFrom("v", "o.v", "o.n", "l"),
    operand: fc.constant(1),
  }),
  fc.record({
    operator: fc.constant("$inc"),
    path: fc.constantFrom("v", "o.n"),
    operand: fc.integer({ min: -2, max: 2 }),
  }),
  fc.record({
    operator: fc.constantFrom("$push", "$addToSet"),
    path: fc.constantFrom("l", "o.l"),
    operand: fc.oneof(element, each),
  }),
  fc.record({ operator: fc.constant("$push"), path: fc.constantFrom("l", "o.l"), operand: placed }),
  fc.record({
    operator: fc.constant("$pull"),
    path: fc.constantFrom("l", "o.l"),
    operand: fc.oneof(
      fc.subarray(IDS).map(($in) => ({ _id: { $in } })),
      fc.array(scalar, { maxLength: 2 }).map(($in) => ({ $in })),
      fc.array(fc.record({ n: scalar }), { minLength: 1, maxLength: 2 }).map(($or) => ({ $or })),
    ),
  }),
  fc.record({
    operator: fc.constant("$pullAll"),
    path: fc.constantFrom("l", "o.l"),
    operand: fc.array(element, { maxLength: 2 }),
  }),
  fc.record({
    operator: fc.constant("$pop"),
    path: fc.constantFrom("l", "o.l"),
    operand: fc.constantFrom(1, -1),
  }),
);

type Operation = { readonly operator: string; readonly path: string; readonly operand: unknown };

/** Joins operations whose paths do not overlap. */
function updateOf(operations: readonly Operation[]) {
  const update: Record<string, Record<string, unknown>> = {};
  const taken: string[] = [];
  for (const { operator, path, operand } of operations) {
    if (
      taken.some((each) => `${each}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${each}.`))
    ) {
      continue;
    }
    taken.push(path);
    update[operator] = { ...update[operator], [path]: operand };
  }
  return update;
}

test("appliedFields() says what a statement stores, and refuses what the database refuses", async () => {
  await using database = await openDatabase();
  const collection = database.connection.collection<{ _id: unknown }>("applied");
  const updates = fc.array(operation, { minLength: 1, maxLength: 3 }).map(updateOf);
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(stored, updates, async (before, update) => {
      const { insertedId: _id } = await collection.insertOne({ ...before } as never);
      const [read] = await collection.find({ _id }, AS_STORED).toArray() as StoredObject[];
      const sent = await collection.updateOne({ _id }, update as never).then(
        () => true,
        () => false,
      );
      outcomes.add(`${Object.keys(update)[0]} ${sent}`);
      const [after] = await collection.find({ _id }, AS_STORED).toArray();
      const applied = () => textsOf(setFields({ ...read }, appliedFields(read ?? {}, update)));
      if (sent) assertEquals(applied(), textsOf(after as StoredObject));
      else assertThrows(applied);
    }),
    { numRuns: 600, seed: 281132 },
  );
  assertEquals(outcomes.size >= 10, true, [...outcomes].join());
});

function textsOf(entity: StoredObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entity).map(([name, each]) => [name, storedText(each)] as const).sort(),
  );
}

test("appliedFields() takes a single value for a list of one, and refuses what it does not know", () => {
  assertEquals(appliedFields({ l: "a" }, { $push: { l: "b" } }), { l: ["a", "b"] });
  assertEquals(appliedFields({ n: new Decimal128("1.5") }, { $inc: { n: 2 } }), { n: 3.5 });
  assertEquals(appliedFields({ l: "a" }, { $pull: { l: { $in: ["a"] } } }), { l: [] });
  assertThrows(() => appliedFields({}, { $rename: { a: "b" } }), TypeError, "$rename");
});

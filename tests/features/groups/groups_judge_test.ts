import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../../mod.ts";
import { Receipt } from "../../fixtures/receipts.ts";
import { type Asked, groupsOf, isSame, type Stored } from "./groups_judge.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, mount } from "../../support/support.ts";

const { Decimal128, Double, Int32, Long, ObjectId } = mongoose.mongo;

/** A generator of numbers from 0 to 1 that repeats itself for a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const OWNERS = [0, 1, 2].map((each) => new ObjectId(String(each).padStart(24, "0")));

type Make = () => unknown;

/** Makes documents as others may have stored them: what is missing, null, of other types, far away. */
function documents(random: () => number, count: number): Stored[] {
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const made = (makes: readonly Make[]) => one(makes)();
  const below = (limit: number) => Math.floor(random() * limit);
  const states = ["open", "Open", "", "$state", "closed", null, undefined, true, ["open"], {
    a: 1,
  }];
  const large = Long.fromString("9007199254740993");
  const numbers = numbersBelow(below);
  const dates = datesBy(below);
  return Array.from({ length: count }, () => {
    const doc: Stored = {
      ...{ tenant: one(["a", "b"]), state: one(states), price: made(decimalsBelow(below)) },
      rank: made([...numbers, () => new Double(NaN), () => Decimal128.fromString("NaN")]),
      size: made([...numbers, () => new Double(NaN), () => undefined]),
      cents: made([() => large, () => Long.fromNumber(below(100)), () => null, () => undefined]),
      ...{ at: made(dates), day: made(dates), year: made(dates) },
      ...{ when: one([new Date(0), new Date(1), null]), done: one([true, false, undefined]) },
      owner: one([...OWNERS, undefined]),
    };
    return Object.fromEntries(Object.entries(doc).filter(([, value]) => value !== undefined));
  });
}

type Below = (limit: number) => number;

function numbersBelow(below: Below): Make[] {
  return [
    () => new Int32(below(6)),
    () => new Double(below(600) / 100),
    () => Long.fromNumber(below(6)),
    () => Decimal128.fromString(`${below(6)}.5`),
    () => "5",
    () => null,
    () => undefined,
    () => true,
    () => [new Int32(1)],
    () => ({ rank: new Int32(1) }),
  ];
}

function decimalsBelow(below: Below): Make[] {
  return [
    () => Decimal128.fromString(`${below(1e9)}.${below(1e9)}${below(1e9)}`),
    () => Decimal128.fromString("0.1"),
    () => Decimal128.fromString("-12345678901234567890.01"),
    () => new Int32(3),
    () => null,
    () => undefined,
    () => "7",
  ];
}

function datesBy(below: Below): Make[] {
  return [
    () => new Date(Date.UTC(2023 + below(3), below(12), 1)),
    () => new Date(Date.UTC(2024, 1, 28) + below(2 * 86_400_000)),
    () => new Date(Date.UTC(2024, below(12), 1) - 1),
    () => new Date(Date.UTC(1969, 11, 31, 23, 59, 59, 999)),
    () => new Date("0001-01-01T00:00:00.000Z"),
    () => new Date("9999-12-31T23:59:59.999Z"),
    () => new Date("+010000-01-01T00:00:00.000Z"),
    () => new Date("-000001-06-01T00:00:00.000Z"),
    () => "2024-03-01",
    () => new ObjectId(),
    () => null,
    () => undefined,
    () => [new Date(0)],
    () => ({ at: new Date(0) }),
  ];
}

const BY = ["state", "rank", "at", "day", "year", "when", "done", "owner"];
const NUMBERS = ["price", "rank", "cents", "size"];

interface Question extends Asked {
  readonly tenant: string | undefined;
  readonly state: string | undefined;
}

function ask(random: () => number): Question {
  const some = (names: string[], most: number) => names.filter(() => random() < 0.3).slice(0, most);
  const sum = some(NUMBERS, 4);
  const by = some(BY, 3);
  return {
    by: by.length + sum.length > 0 ? by : ["state"],
    ...{ sum, avg: some(NUMBERS, 4) },
    tenant: ["a", "b", undefined][Math.floor(random() * 3)],
    state: [undefined, "open", "closed"][Math.floor(random() * 3)],
  };
}

function requestOf({ by, sum, avg, tenant, state }: Question) {
  const query = new URLSearchParams(state === undefined ? {} : { q: `{"state":"${state}"}` });
  for (const [name, names] of Object.entries({ group: by, sum, avg })) {
    if (names.length > 0) query.set(name, names.join());
  }
  return { query: String(query), headers: tenant === undefined ? {} : { "x-tenant": tenant } };
}

/** What a question selects: a value, or a list that has it. */
function selectedBy({ tenant, state }: Question, docs: readonly Stored[]): Stored[] {
  return docs.filter((doc) =>
    (tenant === undefined || doc.tenant === tenant) &&
    (state === undefined || [doc.state].flat().includes(state))
  );
}

for (const seed of [1, 2, 3, 4]) {
  test(`groups are those of an independent computation, seed ${seed}`, async () => {
    await using app = await mount([Receipt]);
    const random = randomOf(seed);
    const docs = documents(random, 400);
    await getModel(Receipt).collection.insertMany(docs as never);
    for (let round = 0; round < 30; round++) {
      const asked = ask(random);
      const { query, headers } = requestOf(asked);
      const rows = await app.read<Stored[]>(`/receipts?${query}`, { headers });
      const keyOf = (row: Stored) => JSON.stringify(asked.by.map((name) => row[name]));
      const expected = groupsOf(selectedBy(asked, docs), asked);
      const byKey = new Map(expected.map((row) => [keyOf(row), row]));
      assertEquals(rows.length, expected.length, query);
      for (const row of rows) {
        const own = byKey.get(keyOf(row));
        assert(isSame(row, own), `${query} ${Deno.inspect(row)} ${Deno.inspect(own)}`);
      }
    }
  });
}

test("groups of NaN, and sums of it, are null", async () => {
  await using app = await mount([Receipt]);
  const docs = [{ rank: new Double(NaN) }, { rank: new Double(NaN), state: "open" }];
  await getModel(Receipt).collection.insertMany(docs as never);
  assertEquals(await app.read<unknown>("/receipts?group=rank&sum=rank&avg=rank"), [
    { rank: null, count: 2, sum: { rank: null }, avg: { rank: null } },
  ]);
});

test("q that selects by what is grouped selects the same groups", async () => {
  await using app = await mount([Receipt]);
  await getModel(Receipt).create([1, 2, 2, 3, 3, 3].map((rank) => ({ rank })));
  const q = asQuery({ rank: { $gte: 2 } });
  assertEquals(await app.read<unknown>(`/receipts${q}&group=rank`), [
    { rank: 2, count: 2 },
    { rank: 3, count: 3 },
  ]);
});

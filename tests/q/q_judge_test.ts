import { assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, prop, removeAll, rest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { documents, filters, JudgedFields } from "./q_arbitraries.ts";
import { type JudgedFilter, selects, type Value } from "./q_judge.ts";
import { asQuery, mount } from "../support/support.ts";

const schemaOptions = { collection: "q_judged", minimize: false, versionKey: false } as const;

@rest({ route: "/fast", methods: [all(), removeAll()], schemaOptions })
@rest({
  route: "/slow",
  methods: [all({ preSend: pass }), removeAll({ preSave: pass })],
  schemaOptions,
})
class Judged extends JudgedFields {}

function idOf(index: number): mongoose.Types.ObjectId {
  return new mongoose.Types.ObjectId(String(index).padStart(24, "0"));
}

/** Stores documents past Mongoose, under identifiers that tell their places. */
async function store(given: readonly object[]): Promise<void> {
  const { collection } = getModel(Judged);
  await collection.deleteMany({});
  await collection.insertMany(given.map((each, index) => ({ ...each, _id: idOf(index) })));
}

async function storedIds(found: JudgedFilter = {}): Promise<unknown[]> {
  const documents = await getModel(Judged).collection.find(found).sort({ _id: 1 }).toArray();
  return documents.map(({ _id }) => Number(_id));
}

async function shownIds({ read }: Client, path: string): Promise<unknown[]> {
  return (await read<{ _id: unknown }[]>(path)).map(({ _id }) => Number(_id)).sort();
}

test("all() and removeAll() select by q what the database and an independent judge select", async () => {
  await using app = await mount([Judged]);
  const seed = Number(Deno.env.get("Q_SEED") ?? 20261121);
  const numRuns = Number(Deno.env.get("Q_RUNS") ?? casesOf(75));
  const property = fc.asyncProperty(documents, filters, fc.boolean(), async (given, q, slow) => {
    await store(given);
    const judged = given.flatMap((each, index) => selects(q, each as Value) ? [index] : []);
    assertEquals(await storedIds(q), judged, "the judge");
    assertEquals(await shownIds(app, `/fast${asQuery(q)}`), judged, "without documents");
    assertEquals(await shownIds(app, `/slow${asQuery(q)}`), judged, "with documents");
    const { status } = await app.delete(`/${slow ? "slow" : "fast"}${asQuery(q)}`);
    assertEquals(status, 204);
    const left = given.flatMap((_each, index) => judged.includes(index) ? [] : [index]);
    assertEquals(await storedIds(), left, "what removeAll() leaves");
  });
  await fc.assert(property, { seed, numRuns });
});

@rest({ route: "/prices", methods: [all()], schemaOptions: { collection: "q_prices" } })
@rest({
  route: "/looked",
  methods: [all({ preSend: pass })],
  schemaOptions: { collection: "q_prices" },
})
class Price extends FrameworkModel {
  @prop({ type: Number, set: (euros: number) => euros * 100 })
  cents?: number;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: object;
}

test("all() casts a literal in q once, as it casts the operand of $eq", async (t) => {
  await using app = await mount([Price]);
  await getModel(Price).create({ cents: 5, tags: ["x"], free: ["x"] });
  const filters: [object, number][] = [
    [{ cents: 5 }, 1],
    [{ cents: { $eq: 5 } }, 1],
    [{ cents: { $in: [5] } }, 1],
    [{ cents: 500 }, 0],
    [{ tags: ["x"] }, 1],
    [{ tags: ["x", "y"] }, 0],
    [{ free: ["x", "y"] }, 0],
    [{ free: [null] }, 0],
  ];
  for (const path of ["prices", "looked"]) {
    for (const [filter, count] of filters) {
      await t.step(`${path} ${JSON.stringify(filter)}`, async () => {
        const { body } = await app.get<unknown[]>(`/${path}${asQuery(filter)}`);
        assertEquals(body.length, count);
      });
    }
  }
});

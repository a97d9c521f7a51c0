import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../../support/support.ts";

const { Decimal128, Double, Long } = mongoose.mongo;

@rest({
  route: "/marks",
  methods: [
    all({ groups: { by: ["size", "exact", "plain", { at: "month" }], count: true } }),
  ],
})
class Mark extends FrameworkModel {
  @prop({ type: Number })
  size?: number;
  @prop({ type: mongoose.Types.Decimal128 })
  exact?: mongoose.Types.Decimal128;
  @prop({ type: Date })
  plain?: Date;
  @prop({ type: Date })
  at?: Date;
}

/** Stores documents, and reads their groups by a field. */
async function groupsBy(name: string, values: readonly unknown[]): Promise<unknown[]> {
  await using app = await mount([Mark]);
  const docs = values.map((value) => value === undefined ? {} : { [name]: value });
  await getModel(Mark).collection.insertMany(docs as never);
  const rows = await app.read<EntityBody[]>(`/marks?group=${name}`);
  return rows.map((row) => [row[name], row.count]);
}

test("numbers that JSON shows as null are in one group with what is missing", async () => {
  const numbers = [NaN, Infinity, -Infinity].map((each) => new Double(each));
  const decimal = Decimal128.fromString("NaN");
  assertEquals(await groupsBy("size", [...numbers, decimal, null, undefined, 1]), [[null, 6], [
    1,
    1,
  ]]);
});

test("decimal numbers are grouped by the text that the list shows", async () => {
  const decimals = ["NaN", "1.5"].map((each) => Decimal128.fromString(each));
  assertEquals(await groupsBy("exact", [...decimals, null]), [[null, 1], ["NaN", 1], ["1.5", 1]]);
});

test("dates that JavaScript cannot hold are in one group with what is missing", async () => {
  const far = { $toDate: { $literal: Long.fromString("9000000000000000") } };
  const date = new Date(Date.UTC(2024, 2, 9));
  await using app = await mount([Mark]);
  const { collection } = getModel(Mark);
  await collection.insertMany([{}, {}, { plain: null }, { plain: date }] as never);
  await collection.updateOne({}, [{ $set: { plain: far } }]);
  const rows = await app.read<EntityBody[]>("/marks?group=plain");
  assertEquals(rows.map(({ plain, count }) => [plain, count]), [[null, 3], [date.toJSON(), 1]]);
});

test("a list or an object in the place of a date is in no group", async () => {
  const date = new Date(Date.UTC(2024, 2, 9));
  const misfits = [[date], [], { at: date }, {}];
  const expected = [[null, 3], ["2024-03", 1]];
  assertEquals(await groupsBy("at", [...misfits, "2024", null, undefined, date]), expected);
  assertEquals(await groupsBy("plain", [...misfits, null]), [[null, 1]]);
});

@rest({
  route: "/sorted",
  methods: [all({ sort: ["name"], parameters: ["sum"] }), one({ select: ["name"] })],
})
@rest({
  route: "/bare",
  methods: [all({ preFetch: ({ query }: FrameworkRequest) => query !== null })],
})
class Named extends FrameworkModel {
  @prop()
  name?: string;
}

test("parameters of groups are refused by operations that declare others, and no groups", async () => {
  await using app = await mount([Named]);
  const { insertedId } = await getModel(Named).collection.insertOne({ name: "a" } as never);
  for (
    const path of ["/sorted?group=name", "/sorted?avg=name", `/sorted/${insertedId}?group=name`]
  ) {
    const { status, body } = await app.get<ErrorBody & { parameter: string }>(path);
    const parameter = path.includes("avg") ? "avg" : "group";
    const message = `Parameter "${parameter}" is not allowed`;
    assertEquals([status, body], [400, { code: "BAD_FORMAT", message, parameter }]);
  }
  for (const path of ["/sorted?sum=name", "/bare?group=name", "/sorted?sort=name"]) {
    assertEquals((await app.get(path)).status, 200, path);
  }
});

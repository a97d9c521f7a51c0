import { assert, assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import { all, FrameworkModel, prop, rest } from "../../../mod.ts";
import { openIndexed, type Sent, sorted } from "../../fixtures/indexed.ts";
import { test } from "../../harness/testing.ts";

const LISTED = { page: { max: 20 }, sort: ["rank", "name", "at"] } as const;

@rest({ route: "/deep", methods: [all(LISTED)] })
class Deep extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop()
  name?: string;
  @prop({ type: Date })
  at?: Date;
  static override configure(schema: Schema): void {
    schema.index({ at: 1, _id: 1 });
    schema.index({ rank: 1, name: 1, _id: 1 });
    schema.index({ name: -1, rank: 1, at: 1, _id: 1 });
  }
}

const DOCS = Array.from({ length: 2000 }, (_, n) => ({
  rank: n % 3,
  name: `n${n % 50}`,
  at: new Date(n % 700),
}));

const NO_HEADERS: Record<string, string> = {};

/** How many keys of an index the database looks at for a find. */
async function keysOf({ find, filter, sort, limit }: Sent): Promise<number> {
  const explain = { find, filter, sort, limit };
  const { executionStats } = await mongoose.connection.db?.command({
    explain,
    verbosity: "executionStats",
  }) ?? {};
  return Math.max(executionStats.totalKeysExamined, executionStats.totalDocsExamined);
}

test("a page behind a place reads as much at any depth, by an index of several fields too", async () => {
  await using app = await openIndexed(Deep, DOCS);
  const orders: Record<string, 1 | -1>[] = [
    { at: 1, _id: 1 },
    { at: -1, _id: -1 },
    { rank: 1, name: 1, _id: 1 },
    { name: -1, rank: 1, at: 1, _id: 1 },
  ];
  for (const order of orders) {
    const keys = Object.entries(order).map(([key, sign]) => sign === 1 ? key : `-${key}`);
    const list = await sorted(app, order);
    for (const place of [0, 300, 1000, 1900]) {
      const path = `/deep?sort=${keys}&after=${list[place]}`;
      const { ids, finds: [find = {}] } = await app.read(path, NO_HEADERS);
      assertEquals(ids, list.slice(place + 1, place + 21));
      const read = await keysOf(find);
      assert(read <= 60, `${read} keys or documents for ${keys} behind ${place}`);
    }
  }
});

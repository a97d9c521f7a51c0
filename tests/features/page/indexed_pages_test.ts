import fc from "fast-check";
import mongoose, { type Schema } from "mongoose";
import { assertEquals } from "@std/assert";
import { all, arrayProp, FrameworkModel, type FrameworkRequest, prop, rest } from "../../../mod.ts";
import { type IndexedApp, openIndexed } from "../../fixtures/indexed.ts";
import { casesOf } from "../../harness/report.ts";
import { test } from "../../harness/testing.ts";
import { readPages } from "./links.ts";
import { asQuery, type EntityBody } from "../../support/support.ts";

const RUNS = { seed: Number(Deno.env.get("LISTS_SEED") ?? 20261122), numRuns: casesOf(15) };

const LISTED = { page: { size: 2, max: 50 }, sort: ["rank", "name"], select: ["rank"] } as const;

/** Sorts by what clients may not ask for. */
function preFetch(req: FrameworkRequest): boolean {
  const sort = req.get("x-sort");
  if (sort !== undefined) req.framework.options.sort = sort;
  return true;
}

@rest({ route: "/ordered", methods: [all({ ...LISTED, preFetch })] })
class Ordered extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop()
  name?: string;
  @prop()
  tenant?: string;
  @arrayProp({ items: String })
  tags?: string[];
  static override configure(schema: Schema): void {
    schema.index({ rank: 1, _id: 1 });
    schema.index({ name: 1, rank: -1, _id: 1 });
    schema.index({ tags: 1, rank: 1, _id: 1 });
    schema.index({ tags: 1, _id: 1 });
    schema.index({ tenant: -1, tags: 1, rank: 1, _id: 1 });
  }
}

/** Orders that an index has with one filter or another, and how they are asked for. */
const ORDERS = [
  ["?sort=rank", {}, { rank: 1, _id: 1 }],
  ["?sort=name,-rank", {}, { name: 1, rank: -1, _id: 1 }],
  ["?sort=rank&select=rank", {}, { rank: 1, _id: 1 }],
  ["?", { "x-sort": "tags" }, { tags: 1, _id: 1 }],
  ["?", { "x-sort": "tags rank" }, { tags: 1, rank: 1, _id: 1 }],
] as const;

const FILTERS = [
  {},
  { tags: "a" },
  { tenant: "x", tags: "a" },
  { $and: [{ tenant: "x" }, { tags: { $eq: "b" } }] },
  { tenant: "x" },
  { tenant: null },
  { tags: { $in: ["a", "b"] } },
];

const { Double, Long } = mongoose.mongo;
const number = fc.constantFrom<unknown>(0, 1, 2, new Double(1), new Long(1), new Double(-0), 1.5);
const stray = fc.constantFrom<unknown>(null, "a", NaN, new Date(0), { a: 1 });
const value = fc.oneof({ arbitrary: number, weight: 6 }, stray);
const tag = fc.constantFrom("a", "b", "c");
const tags = fc.oneof<fc.Arbitrary<unknown>[]>(fc.uniqueArray(tag), tag, fc.constant(null));

/** Only one of the paths of an index may lead to an array: what others store is left out where the database refuses it. */
const documents = fc.array(
  fc.record({ rank: value, name: value, tenant: fc.constantFrom("x", "x", "y", null), tags }, {
    requiredKeys: [],
  }),
  { maxLength: 25 },
);

async function check(app: IndexedApp, docs: readonly object[]): Promise<void> {
  await app.collection.deleteMany({});
  const copies = docs.map((doc) => ({ ...doc }));
  if (docs.length > 0) {
    await app.collection.insertMany(copies as never, { ordered: false }).catch(() => {});
  }
  for (const [path, headers, order] of ORDERS) {
    for (const filter of FILTERS) {
      const query = `/ordered${asQuery(filter)}&${path.slice(1)}`;
      const pages = await readPages(app, query, { headers });
      const shown = pages.flatMap(({ body }) => (body as EntityBody[]).map(({ _id }) => _id));
      // Sorted in memory: no index takes part.
      const list = app.collection.find(filter as never).sort(order).hint({ $natural: 1 });
      assertEquals([query, shown], [query, (await list.toArray()).map(({ _id }) => String(_id))]);
    }
  }
}

test("pages in the order of an index make up the list, whatever is stored", async () => {
  await using app = await openIndexed(Ordered, [{}]);
  await fc.assert(fc.asyncProperty(documents, (docs) => check(app, docs)), RUNS);
});

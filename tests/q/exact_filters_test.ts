import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import {
  action,
  all,
  Framework,
  FrameworkModel,
  getModel,
  prop,
  removeAll,
  rest,
} from "../../mod.ts";
import type { FrameworkRequest, ModelQuery, QueryObject } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { documents, filters, JudgedFields } from "./q_arbitraries.ts";
import { asQuery, mount } from "../support/support.ts";

class Sub extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ default: "b" })
  other?: string;
}

class Counts extends FrameworkModel {
  @prop({ type: Object })
  selected?: Record<string, unknown>;
}

const schemaOptions = { collection: "exact", minimize: false, versionKey: false } as const;

/** Counts by each method of the model what a filter selects: in all of them it is the same. */
async function select({ model, filter }: ModelQuery<Exact>): Promise<Record<string, number>> {
  const mark = { $set: { marked: true } };
  const counts = {
    find: (await model.find(filter)).length,
    joined: await model.countDocuments({ $and: [filter, { marked: null }] }),
    spread: (await model.find({ ...filter, marked: null }).lean()).length,
    where: (await model.where(filter).exec()).length,
    distinct: (await model.distinct("_id", filter)).length,
    aggregate: (await model.aggregate([{ $match: filter }])).length,
    driver: await model.collection.countDocuments(filter as never),
    exists: await model.exists(filter) === null ? 0 : 1,
    first: await model.findOneAndUpdate(filter, mark) === null ? 0 : 1,
    updateMany: (await model.updateMany(filter, mark)).matchedCount,
    bulkWrite: (await model.bulkWrite([
      { updateMany: { filter: filter as never, update: mark } },
    ])).matchedCount,
    deleteMany: (await model.deleteMany(filter)).deletedCount,
  };
  return counts;
}

const selectAll = action("select", {
  on: "all",
  answer: Counts,
  run: async (_req, query: ModelQuery<Exact>) => ({ selected: await select(query) }),
});

/** The scope of the routes below. */
let scope: QueryObject = {};

@rest({ route: "/exact", methods: [all(), selectAll], schemaOptions, scope: () => scope })
class Exact extends JudgedFields {
  @prop({ type: Number, set: (euros: number) => euros * 100 })
  cents?: number;
  @prop({ type: Sub })
  sub?: Sub;
  @prop({ type: Boolean })
  marked?: boolean;
}

async function store(given: readonly object[]): Promise<void> {
  const { collection } = getModel(Exact);
  await collection.deleteMany({});
  await collection.insertMany(given.map((each) => ({ ...each })));
}

type App = Awaited<ReturnType<typeof mount>>;

/** Checks that all methods select as many entities as the list shows, and leave the others. */
async function check(app: App, { q, given }: { q: object; given: readonly object[] }) {
  await store(given);
  const listed = (await app.read<{ _id: string }[]>(`/exact${asQuery(q)}`)).map(({ _id }) => _id);
  const own = { url: `/exact${asQuery(q)}`, headers: {} } as never;
  const { filter, model } = await Framework.queryFor(own, Exact);
  const found = (await model.find(filter).sort({ _id: 1 })).map(({ _id }) => String(_id));
  assertEquals(found, listed.sort(), "queryFor()");
  const { status, body } = await app.post<Counts>(`/exact/select${asQuery(q)}`);
  assertEquals(status, 200, JSON.stringify(body));
  for (const [method, count] of Object.entries(body.selected ?? {})) {
    const isOne = method === "exists" || method === "first";
    assertEquals(count, isOne ? Math.min(listed.length, 1) : listed.length, method);
  }
  const left = (await model.find().lean()).map(({ _id }) => String(_id));
  assertEquals(left.filter((each) => listed.includes(each)), [], "deleteMany()");
  assertEquals(left.length, given.length - listed.length);
}

const STORED = [
  { n: 1, text: "abc", tags: ["a"], sub: { text: "a" }, cents: 500, free: { a: 1 } },
  { n: 12, text: "x", tags: [], sub: { text: "a", other: "b" }, cents: 5, free: [1] },
  { text: null, numbers: [1, 2], sub: { other: "b" }, cents: 50_000 },
];

const QUERIES: readonly (readonly [q: object, scope?: QueryObject])[] = [
  ...[[{}], [{ n: { $regex: "^1" } }], [{ text: { $size: 1 } }], [{ tags: { $size: 0 } }]] as const,
  ...[[{ sub: { text: "a" } }], [{ sub: { $ne: { text: "a" } } }], [{ cents: 5 }]] as const,
  ...[[{ cents: { $in: [5] } }], [{ text: { $mod: [2, 0] } }], [{ free: [1] }]] as const,
  ...[[{ n: { $not: { $type: "string" } } }], [{ $nor: [{ sub: { text: "a" } }] }]] as const,
  ...[[{}, { cents: 5 }], [{ n: 1 }, { cents: 5 }], [{ text: "x" }, { cents: 5 }]] as const,
  [{ $or: [{ cents: 5 }, { n: 12 }] }, { $or: [{ cents: 5 }, { n: { $gt: 1 } }] }],
];

test("actions and queryFor() get a filter that every method takes exactly", async (t) => {
  await using app = await mount([Exact]);
  for (const [q, given = {}] of QUERIES) {
    await t.step(JSON.stringify([q, given]), async () => {
      scope = given;
      await check(app, { q, given: STORED });
    });
  }
  scope = {};
});

test("actions and queryFor() select what the list shows, whatever q is", async () => {
  await using app = await mount([Exact]);
  const seed = Number(Deno.env.get("Q_SEED") ?? 20261126);
  const numRuns = Number(Deno.env.get("Q_RUNS") ?? casesOf(200, 30));
  const property = fc.asyncProperty(documents, filters, (given, q) => check(app, { q, given }));
  await fc.assert(property, { seed, numRuns });
});

test("a filter of queryFor() holds where the host sanitizes filters or needs strict ones", async () => {
  await using app = await mount([Exact]);
  const settings = [["sanitizeFilter", true], ["strictQuery", true], [
    "strictQuery",
    "throw",
  ]] as const;
  for (const [name, value] of settings) {
    const before = mongoose.get(name as "strictQuery");
    mongoose.set(name as "strictQuery", value as boolean);
    try {
      await store(STORED);
      const own = { url: `/${asQuery({ n: { $regex: "^1" }, sub: { text: "a" } })}`, headers: {} };
      const { filter, model } = await Framework.queryFor(own as never, Exact);
      assertEquals((await model.find(filter)).length, 0);
      const { filter: one } = await Framework.queryFor(
        { url: `/${asQuery({ n: 1 })}` } as never,
        Exact,
      );
      const { deletedCount } = await model.deleteMany(one, { requireFilter: true });
      assertEquals(deletedCount, 1);
    } finally {
      mongoose.set(name as "strictQuery", before);
    }
  }
  assertEquals((await app.get("/exact")).status, 200);
});

test("a copy of the filter of queryFor() is refused, not taken for another filter", async () => {
  await using _app = await mount([Exact]);
  await store(STORED);
  const { filter, model } = await Framework.queryFor(
    { url: `/${asQuery({ n: 1 })}` } as never,
    Exact,
  );
  const { $and: [condition] } = filter as { $and: [object] };
  const copies = [structuredClone(filter), JSON.parse(JSON.stringify(filter)), { ...condition }];
  for (const copy of copies) {
    for (const strictQuery of [false, true]) {
      await assertRejects(
        () => model.deleteMany(copy, { strictQuery }).exec(),
        "copyOfAnExactFilter",
      );
    }
  }
  assertEquals(await model.countDocuments(), STORED.length);
});

async function narrow(req: FrameworkRequest): Promise<boolean> {
  const { filter } = await Framework.queryFor(req, Place, { route: "/places" });
  req.framework.filter = { $and: [filter, { name: { $ne: "b" } }] };
  return true;
}

async function replaceFilter(req: FrameworkRequest): Promise<boolean> {
  ({ filter: req.framework.filter } = await Framework.queryFor(req, Place, { route: "/places" }));
  return true;
}

const near = action("near", {
  on: "all",
  answer: Counts,
  run: async (_req, { model, filter }: ModelQuery<Place>) => {
    return { selected: { names: (await model.find(filter)).map(({ name }) => name) } };
  },
});

@rest({ route: "/places", methods: [all(), near], scope: () => ({ name: { $ne: "c" } }) })
@rest({
  route: "/narrow",
  methods: [
    all({ preFetch: narrow, count: { always: true } }),
    removeAll({ preFetch: narrow, preSave: pass }),
  ],
})
@rest({ route: "/alone", methods: [all({ preFetch: replaceFilter })] })
class Place extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.index({ at: "2dsphere" });
  }

  @prop({ required: true })
  name!: string;
  @prop({ type: Object })
  at?: object;
}

test("the filter of queryFor() is a filter of hooks, too", async () => {
  await using app = await mount([Place]);
  await getModel(Place).init();
  const at = (x: number) => ({ type: "Point", coordinates: [x, 0] });
  const names = ["d", "c", "b", "a"];
  await getModel(Place).create(names.map((name, x) => ({ name, at: at(x) })));
  const $near = { $geometry: at(3), $maxDistance: 1e7 };
  const { body } = await app.post<Counts>(`/places/near${asQuery({ at: { $near } })}`);
  assertEquals(body.selected?.names, ["a", "b", "d"]);
  const path = `/narrow${asQuery({ name: { $in: ["a", "b", "c"] } })}`;
  const { headers } = await app.get(path);
  assertEquals(headers.get("x-total-count"), "1");
  const alone = await app.read<Place[]>(path.replace("narrow", "alone"));
  assertEquals(alone.map(({ name }) => name).sort(), ["a", "b"]);
  assertEquals((await app.delete(path)).status, 204);
  assertEquals(await getModel(Place).distinct("name"), ["b", "c", "d"]);
});

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one } from "../../mod.ts";
import { prop, type QueryObject, rest, RestError } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { type Given, giving, takeGiven } from "../support/given.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const preFetch = takeGiven;

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "inner" })
  a?: string;
  @prop({ type: Number })
  n?: number;
  @prop({ select: false, default: "unselected" })
  quiet?: string;
}

@rest({ route: "/fast", methods: [all({ preFetch }), one({ preFetch })] })
@rest({
  route: "/slow",
  methods: [all({ preFetch, preSend: pass }), one({ preFetch, preSend: pass })],
})
@rest({
  route: "/lean",
  methods: [
    all({ lean: true, preFetch, preSend: pass }),
    one({ lean: true, preFetch, preSend: pass }),
  ],
})
class Movie extends FrameworkModel {
  @prop({ default: "none" })
  a?: string;
  @prop({ type: Number, default: 7 })
  n?: number;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Inner, default: () => ({}) as Inner })
  made?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ select: false, default: "unselected" })
  quiet?: string;
  @prop({ hidden: true, default: "SECRET" })
  secret?: string;
}

const STORED = [
  { a: "x", n: 2, inner: { a: "i", n: 1, quiet: "q" }, tags: ["t", "u"], quiet: "q", secret: "s" },
  { n: 1, inners: [{ a: "y", n: 1 }, { n: 2 }], tags: [] },
  { a: "b", n: 3, inner: {}, made: { n: 5 }, inners: [{}, { a: "y", n: 3, quiet: "q" }] },
  { a: "c", n: 1 },
];

async function seed(): Promise<string> {
  const ids = STORED.map(() => new mongoose.Types.ObjectId());
  const docs = STORED.map((each, index) => ({ ...each, _id: ids[index], __v: 0 }));
  await getModel(Movie).collection.insertMany(docs.toReversed() as never);
  return String(ids[2]);
}

/** What a route answers: its status, and the entities where it is a success. */
async function answer({ get }: Client, path: string, given: Given): Promise<unknown> {
  const { status, body } = await get(path, giving(given));
  return status < 400 ? [status, body] : [status];
}

/** Holds the answers of the three ways against each other, and gives the list. */
async function readAll(app: Client, id: string, given: Given): Promise<unknown> {
  for (const path of [`/${id}`, ""]) {
    const [fast, slow, lean] = [
      await answer(app, `/fast${path}`, given),
      await answer(app, `/slow${path}`, given),
      await answer(app, `/lean${path}`, given),
    ];
    assertEquals([path, fast, lean], [path, slow, slow], Deno.inspect(given, { depth: 9 }));
    if (path === "") return slow;
  }
}

const NAMES = ["_id", "a", "n", "inner", "made", "inners", "tags", "quiet", "secret", "__v", "no"];
const INNER = ["inner.a", "inner.quiet", "inners.n", "inner", "made.a"];

const flag = fc.constantFrom<unknown>(1, 0, true, false);
const path = fc.constantFrom(...NAMES, ...INNER);
const projection = fc.oneof(
  fc.constantFrom(null, undefined, "", [], {}),
  fc.uniqueArray(path, { maxLength: 3 }).chain((paths) =>
    flag.map((value) => Object.fromEntries(paths.map((each) => [each, value])))
  ),
  fc.dictionary(path, flag, { maxKeys: 3 }),
  fc.tuple(fc.constantFrom("+", "-", ""), fc.uniqueArray(path, { maxLength: 2 }), flag).map(
    ([sign, paths, value]) => Object.fromEntries(paths.map((each) => [sign + each, value])),
  ),
  fc.array(fc.tuple(fc.constantFrom("+", "-", "", ""), path), { maxLength: 3 }).map((all) =>
    all.map((pair) => pair.join("")).join(" ")
  ),
  fc.array(fc.tuple(fc.constantFrom("-", ""), path), { maxLength: 2 }).map((all) =>
    all.map((pair) => pair.join(""))
  ),
  fc.tuple(
    fc.constantFrom<QueryObject>(
      { tags: { $slice: 1 } },
      { inners: { $slice: [0, 1] } },
      { inners: { $elemMatch: { a: "y" } } },
      { inner: { a: 1 } },
      { inner: { n: 0 } },
      { a: "$made.a" },
      { a: { $toUpper: "$a" } },
      { n: { $literal: 5 } },
    ),
    fc.dictionary(path, flag, { maxKeys: 1 }),
  ).map(([special, rest]) => ({ ...rest, ...special })),
);

const direction = fc.constantFrom<unknown>(1, -1, "asc", "desc", "ascending", "descending");
const pairs = fc.array(fc.tuple(fc.constantFrom("a", "n", "_id", "inner.n"), direction), {
  maxLength: 3,
});
const sort = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, "", {}, [], "a", "-n a", " a", "-_id"),
  fc.constantFrom<unknown>(
    { n: "sideways" },
    5,
    "no",
  ),
  pairs,
  pairs.map((all) => Object.fromEntries(all)),
  pairs.map((all) => new Map(all)),
  pairs.map((all) => [all]),
);
const count = fc.constantFrom<unknown>(undefined, null, 1, 2, "1", 9);
const options = fc.record({
  sort,
  skip: fc.oneof(count, fc.constantFrom(0, NaN, "0")),
  limit: count,
}, { requiredKeys: [] });

test("all() and one() answer the same whichever form options and projection have", async () => {
  await using app = await mount([Movie], { onError: () => new RestError(500, "Seen") });
  const id = await seed();
  const property = fc.asyncProperty(projection, options, async (projection, options) => {
    await readAll(app, id, { projection, options } as Given);
  });
  await fc.assert(property, { numRuns: casesOf(100), seed: 42 });
});

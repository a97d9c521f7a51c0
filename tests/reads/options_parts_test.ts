import { assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one } from "../../mod.ts";
import { prop, rest, RestError } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { type Given, giving, takeGiven } from "../support/given.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const bare = { preFetch: takeGiven };
const hooked = { ...bare, preSend: pass };
const lean = { ...hooked, lean: true };

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "inner" })
  a?: string;
  @prop({ select: false, default: "unselected" })
  quiet?: string;
}

class Pair extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  a?: string;
  @prop({ type: Number, default: 5 })
  n?: number;
  @arrayProp({ items: String })
  tags?: string[];
}

@rest({ route: "/parts", methods: [all(bare), one(bare)] })
class Part extends FrameworkModel {
  static override schemaOptions = { versionKey: false as const };
  @prop({ default: "none" })
  a?: string;
  @prop({ type: Number, default: 7 })
  n?: number;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Pair, embedded: true })
  pairs?: Pair[];
  @prop({ type: Pair })
  pair?: Pair;
  @prop({ select: false, default: "unselected" })
  quiet?: string;
  @prop({ hidden: true })
  secret?: string;
}

@rest({ route: "/roots", methods: [one()] })
class Root extends FrameworkModel {
  @rest({ methods: [all(bare), one(bare)] })
  @arrayProp({ items: Part, embedded: true })
  embedded?: Part[];
  @rest({ methods: [all(hooked), one(hooked)] as never[] })
  @arrayProp({ items: Part, embedded: true, apart: false })
  hooked?: Part[];
  @rest({ methods: [all(lean as never), one(lean as never)] })
  @arrayProp({ items: Part, embedded: true, apart: false })
  lean?: Part[];
  @rest({ methods: [all(bare), one(bare)] })
  @arrayProp({ items: Part })
  refs?: string[];
  @rest({ methods: [all(hooked), one(hooked)] as never[] })
  @arrayProp({ items: Part })
  hookedRefs?: string[];
  @rest({ methods: [all(lean as never), one(lean as never)] })
  @arrayProp({ items: Part })
  leanRefs?: string[];
}

/** Where the same entities are served: as roots, as embedded documents, as references. */
const PLACES = ["embedded", "hooked", "lean", "refs", "hookedRefs", "leanRefs"];

const PAIRS = [{ a: "x", n: 1, tags: ["t", "u"] }, { a: "y" }, { a: "y", n: 2 }, {
  n: 3,
  tags: ["u"],
}];

interface Seeded {
  readonly bases: readonly string[];
  readonly id: string;
}

async function seed(): Promise<Seeded> {
  const parts = [
    { a: "x", n: 3, inner: { a: "i", quiet: "q" }, tags: ["t", "u", "v"], quiet: "q", secret: "s" },
    { a: "y", n: 1, tags: [], pairs: PAIRS, pair: PAIRS[0] },
    { a: "z", n: 2, inner: {} },
  ].map((part) => ({ ...part, _id: new mongoose.Types.ObjectId() }));
  const [ids, _id] = [parts.map((part) => part._id), new mongoose.Types.ObjectId()];
  await getModel(Part).collection.insertMany(parts as never);
  const root = { embedded: parts, hooked: parts, lean: parts };
  const refs = { refs: ids, hookedRefs: ids, leanRefs: ids };
  await getModel(Root).collection.insertOne({ _id, ...root, ...refs, __v: 0 } as never);
  const bases = ["/parts", ...PLACES.map((place) => `/roots/${_id}/${place}`)];
  return { bases, id: String(ids[0]) };
}

async function answer({ get }: Client, path: string, given: Given): Promise<unknown> {
  const { status, body } = await get(path, giving(given));
  return status < 400 ? [status, body] : [status];
}

const path = fc.constantFrom("_id", "a", "n", "inner", "inner.a", "tags", "quiet", "secret", "no");
const flag = fc.constantFrom<unknown>(1, 0, true, false);
const sign = fc.constantFrom("+", "-", "");
const projection = fc.oneof(
  fc.constantFrom(null, undefined, "", [], {}, { inner: { a: 1 } }),
  fc.tuple(fc.uniqueArray(path, { maxLength: 3 }), flag).map(([paths, value]) =>
    Object.fromEntries(paths.map((each) => [each, value]))
  ),
  fc.tuple(sign, path, flag).map(([mark, each, value]) => ({ [mark + each]: value })),
  fc.array(fc.tuple(sign, path), { maxLength: 2 }).map((all) =>
    all.map((pair) => pair.join("")).join(" ")
  ),
);
const sort = fc.constantFrom<unknown>(
  ...[undefined, null, "", [], "n", "-a", "-_id", [["n", 1]], [["a", "desc"], ["n", 1]]],
  ...[{ n: -1 }, new Map([["n", -1]]), { n: "sideways" }, 5],
);
const count = fc.constantFrom<unknown>(undefined, null, 1, "2", 9);
const options = fc.record({ sort, skip: fc.oneof(count, fc.constantFrom(0, NaN)), limit: count }, {
  requiredKeys: [],
});

/** Holds the answers of parts against those of roots. */
async function compare(app: Client, { bases, id }: Seeded, given: Given): Promise<void> {
  for (const path of ["", `/${id}`]) {
    const [expected, ...answers] = await Promise.all(
      bases.map((base) => answer(app, base + path, given)),
    );
    for (const [index, each] of answers.entries()) {
      assertEquals([PLACES[index], each], [PLACES[index], expected], Deno.inspect(given));
    }
  }
}

test("all() and one() of parts answer as those of roots whichever form options and projection have", async () => {
  await using app = await mount([Part, Root], { onError: () => new RestError(500, "Seen") });
  const seeded = await seed();
  const property = fc.asyncProperty(projection, options, async (projection, options) => {
    await compare(app, seeded, { projection, options } as Given);
  });
  await fc.assert(property, {
    numRuns: casesOf(50),
    seed: 42,
    examples: [["_id -no", {}], ["+_id -tags", {}]],
  });
});

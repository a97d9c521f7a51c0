import { assertEquals } from "@std/assert";
import fc from "fast-check";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, type FrameworkRequest, getModel, one } from "../mod.ts";
import { prop, type QueryObject, rest, RestError } from "../mod.ts";
import { pass } from "./both_paths.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { mount } from "./support.ts";

/** What the next request's `preFetch` hook puts on it. */
let next: { projection?: unknown; options?: QueryObject } = {};

const preFetch = (req: FrameworkRequest) => {
  Object.assign(req.framework, next);
  return true;
};
const bare = { preFetch };
const hooked = { preFetch, preSend: pass };
const lean = { ...hooked, lean: true };

class Inner extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ default: "inner" })
  a?: string;
  @prop({ select: false, default: "unselected" })
  quiet?: string;
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
  @arrayProp({ items: Part, embedded: true })
  hooked?: Part[];
  @rest({ methods: [all(lean as never), one(lean as never)] })
  @arrayProp({ items: Part, embedded: true })
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

async function seed(url: string): Promise<{ readonly bases: string[]; readonly id: string }> {
  const parts = [
    { a: "x", n: 3, inner: { a: "i", quiet: "q" }, tags: ["t"], quiet: "q", secret: "s" },
    { a: "y", n: 1, tags: [] },
    { a: "z", n: 2, inner: {} },
  ].map((part) => ({ ...part, _id: new mongoose.Types.ObjectId() }));
  const [ids, _id] = [parts.map((part) => part._id), new mongoose.Types.ObjectId()];
  await getModel(Part).collection.insertMany(parts as never);
  const root = { embedded: parts, hooked: parts, lean: parts };
  const refs = { refs: ids, hookedRefs: ids, leanRefs: ids };
  await getModel(Root).collection.insertOne({ _id, ...root, ...refs, __v: 0 } as never);
  const bases = [`${url}/parts`, ...PLACES.map((place) => `${url}/roots/${_id}/${place}`)];
  return { bases, id: String(ids[0]) };
}

async function answer(url: string): Promise<unknown> {
  const { status, body } = await request<unknown>(url);
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
  ...[undefined, null, "", [], "n", "-a", "-_id", ["-n"], [["n", 1]], [["a", "desc"], ["n", 1]]],
  ...[{ n: -1 }, new Map([["n", -1]]), { n: "sideways" }, 5],
);
const count = fc.constantFrom<unknown>(undefined, null, 1, "2", 9);
const options = fc.record({ sort, skip: fc.oneof(count, fc.constantFrom(0, NaN)), limit: count }, {
  requiredKeys: [],
});

test("all() and one() of parts answer as those of roots whichever form options and projection have", async () => {
  await using app = await mount([Part, Root], { onError: () => new RestError(500, "Seen") });
  const { bases, id } = await seed(app.url);
  const property = fc.asyncProperty(projection, options, async (projection, options) => {
    next = { projection, options };
    for (const path of ["", `/${id}`]) {
      const [expected, ...answers] = await Promise.all(bases.map((base) => answer(base + path)));
      for (const [index, each] of answers.entries()) {
        assertEquals([PLACES[index], each], [PLACES[index], expected], Deno.inspect(next));
      }
    }
  });
  await fc.assert(property, {
    numRuns: 100,
    seed: 42,
    examples: [["_id -no", {}], ["+_id -tags", {}]],
  });
});

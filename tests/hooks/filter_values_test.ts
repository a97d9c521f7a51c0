import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import mongoose, { type SchemaOptions } from "mongoose";
import { all, FrameworkModel, getModel, type ModelClass, one, prop, remove } from "../../mod.ts";
import { type QueryObject, removeAll, rest, RestError, update } from "../../mod.ts";
import { pass, watchCommands } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mount, type Mounted } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ type: Number, default: 7 })
  size?: number;
}

class Fields extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Date })
  day?: Date;
  @prop({ type: mongoose.Types.ObjectId })
  owner?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Object })
  free?: object;
}

/** Where a filter comes from, and whether hooks see the entities. */
const WAYS = [["scope", false], ["scope", true], ["filter", false], ["filter", true]] as const;
type Way = typeof WAYS[number];

/** For paths that no model declares: only a model that is not strict takes them in scopes and filters. */
const OPEN = { strict: false };

/** Makes a model of its own whose scope, or whose hooks' filter, is what `give` gives. */
function bound(
  [what, hooked]: Way,
  give: () => unknown,
  options: SchemaOptions = {},
): ModelClass<Fields> {
  const collection = `values_${crypto.randomUUID().slice(0, 8)}`;
  const preFetch = (req: { framework: { filter: QueryObject } }) => {
    if (what === "filter") req.framework.filter = give() as QueryObject;
    return true;
  };
  const hooks = hooked ? { preFetch, postFetch: pass<Fields> } : { preFetch };
  @rest({
    route: "/items",
    methods: [all(hooks), one(hooks), update(hooks), remove(hooks), removeAll(hooks)] as never[],
    ...what === "scope" && { scope: () => give() as QueryObject },
    schemaOptions: { collection, autoCreate: false, autoIndex: false, ...options },
  })
  class Bound extends Fields {}
  return Bound;
}

/** A filter, its name, and what the error says. */
type Refused = readonly [name: string, filter: unknown, message: RegExp];

/** Sends all operations with each filter: each answers 500, sends nothing, and its error names the path. */
async function refuseAll(
  way: Way,
  filters: readonly Refused[],
  options?: SchemaOptions,
): Promise<void> {
  let given: unknown = {};
  const errors: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => {
    errors.push(error);
    return new RestError(500, "Seen");
  };
  const model = bound(way, () => given, options);
  await using app = await mount([model], { onError });
  const sent = await watchCommands(app.database.uri);
  const { insertedId: id } = await getModel(model).collection.insertOne({ name: "x", __v: 0 });
  for (const [name, filter, message] of filters) {
    given = filter;
    sent.length = errors.length = 0;
    const statuses = await sendAll(app, String(id));
    assertEquals([name, statuses, sent], [name, [500, 500, 500, 500, 500], []]);
    for (const error of errors) {
      assertInstanceOf(error, Error);
      assert(message.test(error.message), `${name}: ${error.message}`);
    }
  }
}

async function sendAll(app: Mounted, id: string): Promise<number[]> {
  const replies = [
    await app.get("/items"),
    await app.get(`/items/${id}`),
    await app.patch(`/items/${id}`, { name: "y" }),
    await app.delete(`/items/${id}`),
    await app.delete("/items"),
  ];
  return replies.map(({ status }) => status);
}

const OWNER = new mongoose.Types.ObjectId();

class Bare {
  owner = "me";
}

/** Values that Mongoose or BSON drops or distorts wherever they stand. */
const LOST: [string, unknown][] = [
  ["undefined", undefined],
  ["a function", () => "me"],
  ["a class", Bare],
  ["a symbol", Symbol("me")],
  ["NaN", NaN],
  ["an invalid date", new Date(NaN)],
  ["a promise", Promise.resolve("me")],
  ["a query", mongoose.model("FilterValues", new mongoose.Schema({})).find()],
  ["a set", new Set(["me"])],
  ["a map", new Map([["$ne", null]])],
  ["an instance", new Bare()],
  ["an inherited member", Object.create({ owner: "me" })],
  ["a bytes view", new Float32Array(1)],
  ["a hole", new Array(1)],
  ["a deep undefined", { a: [{ b: undefined }] }],
  ["a symbol key", { [Symbol("or")]: [{ owner: "me" }] }],
  ["a hidden key", Object.defineProperty({}, "owner", { value: "me" })],
  ["a member function", { toJSON: () => "me" }],
  ["a flag that is lost", /^a.b/s],
  ["too large a bigint", 2n ** 63n],
];

type Place = [name: string, filterOf: (value: unknown) => QueryObject];

/** Where a value may stand, on paths that Mongoose casts and on others. */
const PLACES: Place[] = [
  ["a declared path", (value) => ({ name: value })],
  ["a free path", (value) => ({ free: { $ne: value } })],
  ["an embedded object", (value) => ({ inner: { $not: { $eq: value } } })],
  ["a clause", (value) => ({ $and: [{ rank: 1 }, { $or: [{ "free.a": value }] }] })],
];

const UNDECLARED: Place[] = [
  ["an undeclared path", (value) => ({ nosuch: { $nin: [value] } })],
];

function lostAt(places: readonly Place[]): Refused[] {
  return LOST.flatMap(([name, value]) =>
    places.map(([place, wrap]): Refused => [
      `${name} at ${place}`,
      wrap(value),
      /"(scope|filter)\.[^"]+" is /,
    ])
  );
}

test("scope and filter answer 500, and send nothing, when a value in them would be lost", async (t) => {
  for (const way of WAYS) {
    await t.step(way.join(" "), async () => {
      await refuseAll(way, lostAt(PLACES));
      await refuseAll(way, lostAt(UNDECLARED), OPEN);
    });
  }
});

/** What is lost only where Mongoose does not cast it, or by its cast. */
const LOST_BY_CAST: Refused[] = [
  ["an address on a free path", { free: { $ne: new URL("http://a.b") } }, /"free\.\$ne" /],
  ["a boxed number", { "free.a": { $gt: Object(5) } }, /"free\.a\.\$gt" /],
  [
    "fields that a cast adds",
    { inner: { $ne: { label: "a" } } },
    /"inner\.\$ne\.(_id|size)" .* Mongoose adds it/,
  ],
  [
    "a field that a cast drops",
    { inner: { $nin: [{ _id: OWNER, size: 1, no: 1 }] } },
    /\.no" .* Mongoose drops it/,
  ],
  ["an object of something else", { inner: { $ne: new Error("x") } }, /"inner\.\$ne" /],
  ["a text in a number", { rank: "high" }, /Cast to Number failed/],
  ["no identifier", { _id: "ann" }, /Cast to ObjectId failed/],
  ["an empty $or", { $or: [] }, /"\w+\.\$or" is an empty list/],
  ["an empty $and", { $and: [] }, /"\w+\.\$and" is an empty list/],
  ["an empty $nor inside", { $and: [{ $nor: [] }] }, /"\w+\.\$and\.0\.\$nor" is an empty list/],
];

const LOST_UNDECLARED: Refused[] = [
  ["an address that nobody declared", { nosuch: { $nin: [new URL("http://a.b")] } }, /"nosuch/],
  [
    "an empty clause of an element",
    { list: { $elemMatch: { $or: [] } } },
    /\$or" is an empty list/,
  ],
];

test("scope and filter answer 500, and send nothing, when a cast would lose a condition", async (t) => {
  for (const way of WAYS) {
    await t.step(way.join(" "), async () => {
      await refuseAll(way, LOST_BY_CAST);
      await refuseAll(way, LOST_UNDECLARED, OPEN);
    });
  }
});

/** What a date may be cast from. */
class Moment {
  valueOf(): number {
    return 0;
  }
}

function hasRank(this: { rank: number }): boolean {
  return this.rank === 5;
}

const FREE = { a: [new Date(5), OWNER, 5n, new Uint8Array([1]), null] };

/** What Mongoose casts, or BSON keeps: it selects what it selects in a query of the host's own. */
const KEPT: QueryObject[] = [
  { name: new URL("http://a.b/") },
  { day: { $gt: new Moment() } },
  { owner: { _id: OWNER, name: "lean" } },
  { name: { $in: ["http://a.b/", null] } },
  { name: ["http://a.b/"] },
  { name: /^HTTP/i },
  { rank: { $lt: Infinity } },
  { $where: hasRank },
  { free: FREE },
  { $and: [{}, { rank: 5 }] },
  { "inner.label": "in", inner: { $ne: null } },
];

test("scope and filter select what Mongoose casts and BSON keeps", async (t) => {
  const kept = [[KEPT, {}], [[{ nosuch: { $nin: [] } }], OPEN]] as const;
  for (
    const [way, [filters, options]] of WAYS.flatMap((way) =>
      kept.map((each) => [way, each] as const)
    )
  ) {
    await t.step([...way, ...Object.keys(options)].join(" "), async () => {
      let given: QueryObject = {};
      const model = bound(way, () => given, options);
      await using app = await mount([model]);
      const inner = { label: "in" };
      const stored = { name: "http://a.b/", rank: 5, day: new Date(5), owner: OWNER, inner };
      await getModel(model).collection.insertMany([{ ...stored, free: FREE }] as never);
      for (const filter of filters) {
        given = filter;
        const { status, body, text } = await app.get<unknown[]>("/items");
        assertEquals([filter, status, body.length], [filter, 200, 1], text);
      }
    });
  }
});

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

const { Decimal128, ObjectId, UUID } = mongoose.Types;

const OWNER = "507f1f77bcf86cd799439011";
const KEY = "0e7cdda8-3f5e-4b8e-9f6b-1d4f5f1c2a3b";
const methods = [all(), one(), update(), remove(), removeAll()];

class QPart extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  label?: string;
  @prop({ type: Number })
  size?: number;
}

@rest({
  route: "/things",
  methods,
  schemaOptions: { collection: "q_things", timestamps: true },
})
class QThing extends FrameworkModel {
  static override configure(schema: Schema) {
    schema.index({ place: "2dsphere" });
  }
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
  @prop({ type: Boolean })
  seen?: boolean;
  @prop({ type: Date })
  day?: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Buffer })
  bytes?: Buffer;
  @prop({ type: ObjectId })
  owner?: string;
  @prop({ type: Decimal128 })
  price?: mongoose.Types.Decimal128;
  @prop({ type: UUID })
  key?: mongoose.Types.UUID;
  @prop({ lowercase: true })
  email?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Number })
  scores?: number[];
  @arrayProp({ items: () => QThing })
  others?: string[];
  @prop({ type: QPart })
  part?: QPart;
  @arrayProp({ items: QPart, embedded: true })
  parts?: QPart[];
  @prop({ type: Map, of: String })
  map?: Map<string, string>;
  @prop({ type: Map, of: QPart })
  lockers?: Map<string, unknown>;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Object })
  place?: object;
}

/** Three things, which the tables below tell apart by their names. */
const A = {
  name: "a",
  year: 1999,
  seen: true,
  day: new Date("2020-01-01"),
  big: 9007199254740993n,
  bytes: Buffer.from("abc"),
  owner: OWNER,
  price: Decimal128.fromString("1.50"),
  key: new UUID(KEY),
  email: "a@x.org",
  tags: ["red", "blue"],
  scores: [1, 8],
  others: [OWNER],
  part: { label: "x", size: 1 },
  parts: [{ label: "x", size: 1 }, { label: "y", size: 9 }],
  map: { k: "v" },
  lockers: { left: { label: "x", size: 3 } },
  free: { a: { b: [1, { c: "deep" }] }, n: 5, list: [[1, 2], [3]] },
  place: { type: "Point", coordinates: [0, 0] },
};

const B = {
  name: "b",
  year: 2004,
  seen: false,
  day: new Date("2021-01-01"),
  big: 7n,
  bytes: Buffer.from("xyz"),
  price: Decimal128.fromString("20"),
  key: new UUID("ffffffff-ffff-4fff-bfff-ffffffffffff"),
  tags: ["red"],
  scores: [4],
  part: { label: "z", size: 2 },
  parts: [{ label: "x", size: 9 }],
  map: { k: "w" },
  free: { n: "5" },
  place: { type: "Point", coordinates: [10, 10] },
};

async function seed(): Promise<void> {
  const model = getModel(QThing);
  await model.createIndexes();
  await model.deleteMany();
  await model.create([A, B, { name: "c" }] as never);
}

async function namesOf({ get }: Client, filter: unknown): Promise<string> {
  const { status, body } = await get<{ name: string }[]>(`/things${asQuery(filter)}`);
  return status === 200 ? body.map(({ name }) => name).sort().join("") : `status ${status}`;
}

/** Runs a table of filters, each with the names of what it selects. */
function selects(name: string, cases: [filter: object, names: string][]): void {
  test(name, async (t) => {
    await using app = await mount([QThing]);
    await seed();
    for (const [filter, names] of cases) {
      await t.step(JSON.stringify(filter), async () => {
        assertEquals(await namesOf(app, filter), names);
      });
    }
  });
}

selects("all() gives what q selects for every operator of comparison", [
  [{}, "abc"],
  [{ name: "a" }, "a"],
  [{ name: "a", year: 1999 }, "a"],
  [{ name: "a", year: 2004 }, ""],
  [{ year: { $eq: 1999 } }, "a"],
  [{ year: { $ne: 1999 } }, "bc"],
  [{ year: { $gt: 1999 } }, "b"],
  [{ year: { $gte: 1999 } }, "ab"],
  [{ year: { $lt: 2004 } }, "a"],
  [{ year: { $lte: 2004 } }, "ab"],
  [{ year: { $gt: 1990, $lt: 2000 } }, "a"],
  [{ year: { $in: [1999, 2004] } }, "ab"],
  [{ year: { $in: [] } }, ""],
  [{ year: { $nin: [1999] } }, "bc"],
  [{ year: null }, "c"],
  [{ year: { $in: [1999, null] } }, "ac"],
]);

selects("all() gives what q selects for every logical operator", [
  [{ $and: [{ year: { $gt: 1990 } }, { seen: true }] }, "a"],
  [{ $and: [{}] }, "abc"],
  [{ $or: [{ name: "a" }, { year: 2004 }] }, "ab"],
  [{ $nor: [{ name: "a" }, { year: 2004 }] }, "c"],
  [{ $nor: [{}] }, ""],
  [{ year: { $not: { $gt: 2000 } } }, "ac"],
  [{ name: { $not: { $regex: "^[ab]" } } }, "c"],
  [{ year: { $not: { $not: { $gt: 2000 } } } }, "b"],
  [{ $or: [{ $and: [{ name: "a" }, { $nor: [{ year: 2004 }] }] }, { name: "c" }] }, "ac"],
  [{ name: { $ne: "c" }, $or: [{ name: "c" }, { seen: false }] }, "b"],
]);

selects("all() gives what q selects for the operators of elements and arrays", [
  [{ year: { $exists: true } }, "ab"],
  [{ year: { $exists: false } }, "c"],
  [{ year: { $exists: 0 } }, "c"],
  [{ name: { $type: "string" } }, "abc"],
  [{ year: { $type: ["int", "double"] } }, "ab"],
  [{ year: { $type: 2 } }, ""],
  [{ "free.n": { $type: "string" } }, "b"],
  [{ tags: "red" }, "ab"],
  [{ tags: ["red"] }, "b"],
  [{ tags: { $all: ["blue", "red"] } }, "a"],
  [{ tags: { $size: 1 } }, "b"],
  [{ tags: { $size: 0 } }, "c"],
  [{ tags: { $in: ["blue", "green"] } }, "a"],
  [{ "tags.1": "blue" }, "a"],
  [{ scores: { $gt: 7 } }, "a"],
  [{ scores: { $elemMatch: { $gt: 2, $lt: 7 } } }, "b"],
  [{ scores: { $gt: 2, $lt: 7 } }, "ab"],
  [{ "scores.0": { $lte: 1 } }, "a"],
  [{ others: OWNER }, "a"],
  [{ "others.0": { $oid: OWNER } }, "a"],
]);

selects("all() gives what q selects for the operators of evaluation", [
  [{ name: { $regex: "^[AB]$", $options: "i" } }, "ab"],
  [{ name: { $regex: "^[AB]$" } }, ""],
  [{ tags: { $regex: "^bl" } }, "a"],
  [{ "parts.label": { $regex: "y" } }, "a"],
  [{ year: { $mod: [1000, 4] } }, "b"],
  [{ scores: { $mod: [4, 0] } }, "ab"],
  [{ "scores.0": { $mod: [4, 1] } }, "a"],
  [{ "free.n": { $mod: [5, 0] } }, "a"],
]);

selects("all() casts the values of q to the type of the field", [
  [{ year: "1999" }, "a"],
  [{ name: { $in: ["a", 5] } }, "a"],
  [{ seen: "true" }, "a"],
  [{ seen: false }, "b"],
  [{ day: "2020-01-01" }, "a"],
  [{ day: { $gt: "2020-06-01T00:00:00Z" } }, "b"],
  [{ day: 1577836800000 }, "a"],
  [{ big: "9007199254740993" }, "a"],
  [{ big: { $lt: 10 } }, "b"],
  [{ bytes: "YWJj" }, "a"],
  [{ bytes: { $gt: "YWJj" } }, "b"],
  [{ owner: OWNER }, "a"],
  [{ owner: { $ne: OWNER } }, "bc"],
  [{ price: "1.5" }, "a"],
  [{ price: { $gt: 2 } }, "b"],
  [{ key: KEY }, "a"],
  [{ key: { $gt: KEY } }, "b"],
  [{ key: { $nin: [KEY] } }, "bc"],
  [{ email: "A@X.ORG" }, "a"],
  [{ email: { $in: ["A@x.org"] } }, "a"],
  [{ createdAt: { $gt: "2020-01-01" } }, "abc"],
  [{ __v: 0 }, "abc"],
]);

selects("all() reads extended JSON in q", [
  [{ owner: { $oid: OWNER } }, "a"],
  [{ owner: { $in: [{ $oid: OWNER }] } }, "a"],
  [{ day: { $date: "2020-01-01T00:00:00Z" } }, "a"],
  [{ day: { $lte: { $date: { $numberLong: "1577836800000" } } } }, "a"],
  [{ big: { $numberLong: "9007199254740993" } }, "a"],
  [{ big: { $gt: { $numberLong: "9007199254740992" } } }, "a"],
  [{ year: { $numberInt: "1999" } }, "a"],
  [{ year: { $lt: { $numberDouble: "2000.5" } } }, "a"],
  [{ price: { $numberDecimal: "20" } }, "b"],
  [{ key: { $uuid: KEY } }, "a"],
  [{ bytes: { $binary: { base64: "YWJj", subType: "00" } } }, "a"],
  [{ "free.n": { $numberLong: "5" } }, "a"],
]);

selects("all() lets q reach into objects, arrays, maps and free-form fields", [
  [{ "part.label": "x" }, "a"],
  [{ part: { label: "x", size: 1 } }, "a"],
  [{ part: { label: "x" } }, ""],
  [{ part: { $in: [{ label: "z", size: "2" }] } }, "b"],
  [{ part: { $exists: false } }, "c"],
  [{ "parts.size": 9 }, "ab"],
  [{ "parts.0.size": 9 }, "b"],
  [{ "parts.1.label": { $exists: true } }, "a"],
  [{ parts: { $elemMatch: { label: "x", size: { $gt: 5 } } } }, "b"],
  [{ parts: { $elemMatch: { $or: [{ label: "y" }, { size: 2 }] } } }, "a"],
  [{ "parts.label": "x", "parts.size": { $gt: 5 } }, "ab"],
  [{ parts: [{ label: "x", size: 9 }] }, "b"],
  [{ parts: { $not: { $elemMatch: { label: "y" } } } }, "bc"],
  [{ "map.k": "v" }, "a"],
  [{ "map.k": { $regex: "^w" } }, "b"],
  [{ map: { k: "w" } }, "b"],
  [{ "lockers.left.size": { $gt: "2" } }, "a"],
  [{ "free.n": 5 }, "a"],
  [{ "free.n": "5" }, "b"],
  [{ "free.a.b.1.c": "deep" }, "a"],
  [{ "free.a.b.c": { $regex: "^de" } }, "a"],
  [{ "free.a": { b: [1, { c: "deep" }] } }, "a"],
  [{ "free.list": { $elemMatch: { $elemMatch: { $eq: 2 } } } }, "a"],
  [{ free: { n: "5" } }, "b"],
]);

const SQUARE = [[[-1, -1], [-1, 1], [1, 1], [1, -1], [-1, -1]]];
const CENTRE = { type: "Point", coordinates: [0, 0] };

selects("all() gives what q selects for the operators of geometry", [
  [{ place: { $geoWithin: { $geometry: { type: "Polygon", coordinates: SQUARE } } } }, "a"],
  [{ place: { $geoWithin: { $centerSphere: [[10, 10], 0.01] } } }, "b"],
  [{ place: { $geoIntersects: { $geometry: CENTRE } } }, "a"],
  [{ place: { $near: { $geometry: CENTRE } } }, "ab"],
  [{ place: { $near: { $geometry: CENTRE, $maxDistance: 1000 } } }, "a"],
  [{ place: { $nearSphere: { $geometry: CENTRE, $minDistance: 1000 } } }, "b"],
  [{ name: "b", place: { $near: { $geometry: CENTRE } } }, "b"],
]);

test("all() gives the nearest first when q has $near", async () => {
  await using app = await mount([QThing]);
  await seed();

  const { body } = await app.get<{ name: string }[]>(
    `/things${
      asQuery({ place: { $near: { $geometry: { type: "Point", coordinates: [9, 9] } } } })
    }`,
  );

  assertEquals(body.map(({ name }) => name), ["b", "a"]);
});

/** What each operation answers for an entity that q selects, and for one that it does not. */
const BY_ID: [method: string, hit: number][] = [["GET", 200], ["PATCH", 200], ["DELETE", 204]];

test("one(), update() and remove() find an entity only when q selects it", async (t) => {
  const filters: [object, hit: boolean][] = [
    [{ year: "1999" }, true],
    [{ year: { $gt: 2000 } }, false],
    [{ parts: { $elemMatch: { label: "y", size: { $gte: 9 } } } }, true],
    [{ $nor: [{ tags: "blue" }] }, false],
    [{ "free.a.b.1.c": "deep" }, true],
    [{ _id: { $oid: OWNER } }, false],
    [{ _id: { $ne: OWNER } }, true],
  ];
  await using app = await mount([QThing]);
  for (const [method, status] of BY_ID) {
    for (const [filter, hit] of filters) {
      await t.step(`${method} ${JSON.stringify(filter)}`, async () => {
        await seed();
        const id = String((await getModel(QThing).findOne({ name: "a" }))?._id);
        const body = method === "PATCH" ? { name: "changed" } : undefined;
        const reply = await app.send(method, `/things/${id}${asQuery(filter)}`, { body });
        assertEquals(reply.status, hit ? status : 404);
        const found = await getModel(QThing).countDocuments({ _id: id, name: "a" });
        assertEquals(found, hit && method !== "GET" ? 0 : 1);
      });
    }
  }
});

test("removeAll() removes what q selects, and nothing else", async (t) => {
  const cases: [filter: object, left: string][] = [
    [{ year: "1999" }, "bc"],
    [{ year: { $gt: 1990 } }, "c"],
    [{ $or: [{ name: "a" }, { seen: false }] }, "c"],
    [{ $nor: [{ name: "a" }] }, "a"],
    [{ parts: { $elemMatch: { label: "x", size: 9 } } }, "ac"],
    [{ scores: { $mod: [8, 0] } }, "bc"],
    [{ "map.k": { $in: ["v"] } }, "bc"],
    [{ name: "nobody" }, "abc"],
    [{ year: { $in: [] } }, "abc"],
    [{}, ""],
  ];
  await using app = await mount([QThing]);
  for (const [filter, left] of cases) {
    await t.step(JSON.stringify(filter), async () => {
      await seed();
      const { status } = await app.delete(`/things${asQuery(filter)}`);
      assertEquals(status, 204);
      assertEquals(await namesOf(app, {}), left);
    });
  }
});

test("all() answers 400 when the database refuses what the client asks", async (t) => {
  const point = { $geometry: { type: "Point", coordinates: [0, 0] } };
  const refused: object[] = [
    { free: { $near: point } },
    { "part.size": { $near: point } },
    { place: { $near: { $geometry: { type: "Point", coordinates: [500, 500] } } } },
    { place: { $geoWithin: { $geometry: { type: "Polygon", coordinates: [[[0, 0]]] } } } },
    { place: { $geoWithin: {} } },
    { $or: [{ place: { $near: point } }, { name: "a" }] },
    { $nor: [{ place: { $near: point } }] },
    { place: { $maxDistance: 5 } },
    { year: { $mod: [0.5, 0] } },
    { year: { $mod: [1e300, 0] } },
    { tags: { $size: 1e300 } },
    { year: { $type: "nothing" } },
    { year: { $type: 200 } },
    { name: { $regex: "(" } },
    { name: { $regex: "[a-" } },
    { name: { $not: { $regex: "*" } } },
  ];
  await using app = await mount([QThing]);
  await seed();
  for (const filter of refused) {
    await t.step(JSON.stringify(filter), async () => {
      const reply = await app.get<{ code: string }>(`/things${asQuery(filter)}`);
      assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"]);
    });
  }
});

/** An operator with an operand that is right in itself, for fields of every type. */
const OPERATORS: [string, unknown][] = [
  ["$gt", null],
  ["$in", [null]],
  ["$all", [null]],
  ["$exists", true],
  ["$type", "string"],
  ["$size", 1],
  ["$mod", [2, 1]],
  ["$regex", "x"],
  ["$elemMatch", { $exists: true }],
  ["$geoWithin", { $center: [[0, 0], 1] }],
  ["$geoIntersects", { $geometry: CENTRE }],
  ["$near", { $geometry: CENTRE }],
  ["$nearSphere", [0, 0]],
  ["$minDistance", 1],
  ["$maxDistance", 1],
];

test("all() answers 200 or 400, never 500, for every operator on a field of every type", async (t) => {
  await using app = await mount([QThing]);
  await seed();
  const paths = Object.keys(getModel(QThing).schema.paths).filter((path) => !path.includes("$*"));
  for (const path of [...paths, "tags.0", "parts.0", "parts.size", "map.k", "lockers.k"]) {
    await t.step(path, async () => {
      for (const [operator, operand] of OPERATORS) {
        for (
          const condition of [
            { [operator]: operand },
            { $not: { [operator]: operand } },
            { $elemMatch: { [operator]: operand } },
          ]
        ) {
          const { status } = await app.get(`/things${asQuery({ [path]: condition })}`);
          assertEquals([200, 400].includes(status), true, `${JSON.stringify(condition)} ${status}`);
        }
      }
    });
  }
});

@rest({
  route: "/elsewhere",
  methods: [all()],
  schemaOptions: { collection: "q_elsewhere" },
  getConnection: () => mongoose.connection,
})
class QElsewhere extends FrameworkModel {
  @prop()
  name?: string;
}

test("all() lets q ask for the version when the model has a connection of its own", async () => {
  await using app = await mount([QElsewhere]);
  await getModel(QElsewhere).create({ name: "a" });

  const { status, body } = await app.get<unknown[]>(`/elsewhere${asQuery({ __v: 0 })}`);

  assertEquals([status, body.length], [200, 1]);
});

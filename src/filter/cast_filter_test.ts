import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { describeShape } from "../schema/fields/shape.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { castFilter } from "./cast_filter.ts";
import { checkFilter } from "./check_filter.ts";

const { ObjectId, UUID, Decimal128 } = mongoose.Schema.Types;
const Part = new mongoose.Schema({ label: String, size: Number });
const Bare = new mongoose.Schema({ label: String, at: Date }, { _id: false });
const Kept = mongoose.model(
  "CastWhole",
  new mongoose.Schema({
    name: { type: String, lowercase: true },
    n: Number,
    b: Boolean,
    d: Date,
    big: BigInt,
    owner: ObjectId,
    owners: [ObjectId],
    uuid: UUID,
    dec: Decimal128,
    buf: Buffer,
    tags: [String],
    nums: [Number],
    part: Part,
    parts: [Part],
    bare: Bare,
    bares: [Bare],
    map: { type: Map, of: String },
    maps: { type: Map, of: Bare },
    free: {},
    at: { type: [Number], index: "2d" },
    geo: { type: { type: String }, coordinates: [Number] },
    nested: { x: String, y: { z: Number } },
    matrix: [[Number]],
    frees: [{}],
    other: {},
  }, { autoCreate: false, autoIndex: false }),
) as unknown as mongoose.Model<unknown>;

const ID = "65a1b2c3d4e5f60718293a4b";
const POINT = { type: "Point", coordinates: ["1", 2] };
const AREA = { type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]]] };
const DAY = "2020-01-01";

const doc = new Kept({
  part: { label: "l" },
  parts: [{ label: "q" }],
  tags: ["a", "b"],
  owner: ID,
  map: { k: "v" },
  bare: { label: "a" },
  buf: Buffer.from("x"),
}) as unknown as Record<string, unknown>;

/** Filters that a query takes: what a cast makes of them is neither a loss nor an addition. */
const FILTERS: Record<string, unknown>[] = [
  { at: { $near: [1, 2], $maxDistance: "5" } },
  { at: { $geoWithin: { $centerSphere: [["1", 2], 3] } } },
  { at: { $geoWithin: { $box: [[0, 0], ["1", 1]] } } },
  { geo: { $near: { $geometry: POINT, $maxDistance: 5 } } },
  { other: { $near: { $geometry: POINT, $maxDistance: "5" } } },
  { other: { $geoWithin: { $geometry: AREA } } },
  { geo: { $geoIntersects: { $geometry: AREA } } },
  { free: { $geoWithin: { $polygon: [[0, 0], [1, 1], [1, 0]] } } },
  { $text: { $search: "x", $caseSensitive: true } },
  { $expr: { $gt: ["$n", "5"] } },
  { $expr: { $and: [{ $eq: ["$name", "x"] }, { $lt: [{ $size: "$tags" }, 3] }] } },
  { $jsonSchema: { required: ["name"] } },
  { $comment: "hi" },
  { $where: "this.n === 1" },
  { parts: { $elemMatch: { label: 5, size: "3", _id: ID } } },
  { parts: { $all: [{ $elemMatch: { size: "1" } }] } },
  { parts: { $not: { $elemMatch: { size: "1" } } } },
  { name: { $not: /x/i } },
  { name: { $not: { $in: ["A", /b/] } } },
  { n: { $type: ["int", 1] } },
  { n: { $mod: ["2", 1] } },
  { n: { $bitsAllSet: [1, 5] } },
  { buf: { $bitsAnySet: 3 } },
  { "map.k": 5 },
  { map: { k: 5 } },
  { maps: { $exists: true } },
  { "maps.k.at": DAY },
  { "maps.k": { label: "a", at: DAY } },
  { bare: { label: "a", at: DAY } },
  { bares: { label: "a" } },
  { bares: [{ label: "a" }] },
  { bares: { $in: [{ label: "a" }] } },
  { bares: { $size: "2" } },
  { owner: doc },
  { owner: { $in: [doc, ID, { _id: ID }] } },
  { owners: { $all: [ID, doc] } },
  { owners: [ID] },
  { tags: { $in: doc.tags } },
  { tags: doc.tags },
  { part: doc.part },
  { parts: { $in: doc.parts } },
  { part: { $in: [null] } },
  { buf: doc.buf },
  { buf: "aGk=" },
  { buf: { $in: [Buffer.from("a")] } },
  { uuid: "123e4567-e89b-12d3-a456-426614174000" },
  { dec: { $gt: 1 } },
  { big: { $in: ["1", 2n] } },
  { b: "true" },
  { d: { $gte: 5, $lt: DAY } },
  { nested: { x: "a", y: { z: 1 } } },
  { "nested.y.z": "5" },
  { matrix: [["1", 2]] },
  { frees: [{ a: 1 }] },
  { frees: { $elemMatch: { a: { $gt: 1 } } } },
  { nums: { $elemMatch: { $gt: "1", $lt: 5 } } },
  { nums: ["1", 2] },
  { nums: { $in: ["5"] } },
  { name: ["A", "b"] },
  { name: { $regex: "^a", $options: "i" } },
  { $and: [{ $or: [{ n: "1" }, { name: "X" }] }, {}] },
  { "parts.0.label": 5, "parts.size": { $gt: "1" } },
  { free: { a: { $gt: 1 } } },
  { _id: { $gt: ID }, __v: "1" },
  { free: new mongoose.mongo.Long(5), other: new mongoose.mongo.MinKey() },
  { map: doc.map, bare: doc.bare },
];

/** Writes a filter as the driver would send it. */
function sent(filter: unknown): string {
  const { BSON } = mongoose.mongo;
  return BSON.EJSON.stringify(
    BSON.deserialize(BSON.serialize(filter as mongoose.mongo.BSON.Document)),
  );
}

/** A copy for Mongoose, which casts in place. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, copied);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, copied(each)]),
  );
}

function checked(filter: object) {
  const shape = describeShape(Kept.schema);
  return checkFilter(filter, { what: "filter", model: "Kept", shape });
}

Deno.test("castFilter() gives what a query of Mongoose sends", () => {
  for (const filter of FILTERS) {
    const query = Kept.find().setOptions({ strictQuery: false });
    const expected = sent(query.cast(Kept, copied(filter) as never));
    assertEquals(sent(castFilter(Kept, checked(filter))), expected);
  }
});

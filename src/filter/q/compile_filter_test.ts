import { assert, assertEquals, assertNotStrictEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { arrayProp, prop } from "../../declare/decorators/prop.ts";
import { RestError } from "../../errors/rest_error.ts";
import { FrameworkModel } from "../../declare/model/framework_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { compileFilter } from "./compile_filter.ts";
import { completeQueryLimits, DEFAULT_LIMITS } from "./limits.ts";

class FilterPart extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ type: Number })
  size?: number;
}

class FilterVault extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ hidden: true })
  code?: string;
}

class FilterThing extends FrameworkModel {
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
  @prop({ type: FilterPart })
  part?: FilterPart;
  @arrayProp({ items: FilterPart, embedded: true })
  parts?: FilterPart[];
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: Object })
  free?: object;
  @prop({ type: FilterVault })
  vault?: FilterVault;
  @arrayProp({ items: FilterVault, embedded: true })
  vaults?: FilterVault[];
  @prop({ type: Map, of: FilterVault })
  lockers?: Map<string, unknown>;
  @prop({ type: mongoose.Types.ObjectId })
  owner?: mongoose.Types.ObjectId;
}

const shape = describeShape(buildSchema(FilterThing).schema);
const ID = "507f1f77bcf86cd799439011";

function compile(filter: unknown, limits = DEFAULT_LIMITS) {
  return compileFilter(filter, { shape, limits });
}

function refusal(filter: unknown, limits = DEFAULT_LIMITS): Record<string, unknown> {
  const error = assertThrows(() => compile(filter, limits), RestError);
  assertEquals(error.status, 400);
  const body = error.body as Record<string, unknown>;
  assertEquals(body.code, "BAD_FORMAT");
  return body;
}

/** Nests a filter so that it is `depth` deep. */
function nest(depth: number): object {
  return depth === 1 ? {} : { $and: [nest(depth - 1)] };
}

Deno.test("compileFilter() casts values to the declared types", async (t) => {
  const cases: [object, object][] = [
    [{ name: 5 }, { name: { $eq: "5" } }],
    [{ year: "1999" }, { year: { $eq: 1999 } }],
    [{ year: { $in: ["1", 2] } }, { year: { $in: [1, 2] } }],
    [{ seen: "true" }, { seen: { $eq: true } }],
    [{ day: "2020-01-01" }, { day: { $eq: new Date("2020-01-01") } }],
    [{ day: { $gte: { $date: 0 } } }, { day: { $gte: new Date(0) } }],
    [{ big: "9007199254740993" }, { big: { $eq: 9007199254740993n } }],
    [{ year: { $numberLong: "7" } }, { year: { $eq: 7 } }],
    [{ tags: 5 }, { tags: { $eq: "5" } }],
    [{ tags: [5] }, { tags: { $eq: ["5"] } }],
    [{ "part.size": "5" }, { "part.size": { $eq: 5 } }],
    [{ "parts.0.size": { $not: { $lt: "5" } } }, { "parts.0.size": { $not: { $lt: 5 } } }],
    [{ parts: { $elemMatch: { size: "5" } } }, { parts: { $elemMatch: { size: { $eq: 5 } } } }],
    [{ tags: { $elemMatch: { $eq: 5 } } }, { tags: { $elemMatch: { $eq: "5" } } }],
    [{ free: { a: "5" } }, { free: { $eq: { a: "5" } } }],
    [{ name: null }, { name: { $eq: null } }],
    [{ seen: { $exists: 1 } }, { seen: { $exists: true } }],
    [{ $nor: [{ year: "1" }, { $or: [{ year: "2" }] }] }, {
      $nor: [{ year: { $eq: 1 } }, { $or: [{ year: { $eq: 2 } }] }],
    }],
  ];
  for (const [filter, expected] of cases) {
    await t.step(JSON.stringify(filter), () => assertEquals(compile(filter), expected));
  }
});

Deno.test("compileFilter() casts identifiers, as text and in extended JSON", () => {
  for (const value of [ID, { $oid: ID }]) {
    const { $eq: owner } = compile({ owner: value }).owner as { readonly $eq: unknown };

    assert(owner instanceof mongoose.Types.ObjectId);
    assertEquals(String(owner), ID);
  }
});

Deno.test("compileFilter() builds a new object and leaves the client's as it is", () => {
  const given = { $and: [{ year: { $in: ["1"] } }], free: { a: [1] } };
  const before = structuredClone(given);

  const result = compile(given);

  assertEquals(given, before);
  assertEquals(result.free, { $eq: given.free });
  assertNotStrictEquals((result.free as { readonly $eq: unknown }).$eq, given.free);
  assertNotStrictEquals(result.$and, given.$and);
});

Deno.test("compileFilter() names the field when a value cannot be cast", async (t) => {
  const cases: [object, string][] = [
    [{ year: "many" }, "year"],
    [{ year: { $gt: "many" } }, "year"],
    [{ year: { $in: [1, "many"] } }, "year"],
    [{ year: [1999] }, "year"],
    [{ year: { a: 1 } }, "year"],
    [{ name: ["A"] }, "name"],
    [{ seen: "perhaps" }, "seen"],
    [{ day: "never" }, "day"],
    [{ owner: "me" }, "owner"],
    [{ _id: "me" }, "_id"],
    [{ bytes: "!" }, "bytes"],
    [{ part: "x" }, "part"],
    [{ part: ["x"] }, "part"],
    [{ part: { size: "many" } }, "part.size"],
    [{ part: { other: 1 } }, "other"],
    [{ parts: [{ size: "many" }] }, "parts.size"],
    [{ $or: [{ year: 1 }, { $nor: [{ "parts.size": "many" }] }] }, "parts.size"],
  ];
  for (const [filter, field] of cases) {
    await t.step(JSON.stringify(filter), () => assertEquals(refusal(filter).field, field));
  }
});

Deno.test("compileFilter() refuses to compare objects as a whole when they hold a secret", async (t) => {
  const conditions: ((value: unknown) => object)[] = [
    (value) => ({ vault: value }),
    (value) => ({ vaults: value }),
    (value) => ({ vaults: [value] }),
    (value) => ({ "vaults.0": value }),
    (value) => ({ lockers: value }),
    (value) => ({ "lockers.a": value }),
    ...["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"].map((operator) => (value: unknown) => ({
      vault: { [operator]: value },
    })),
    ...["$in", "$nin", "$all"].map((operator) => (value: unknown) => ({
      vaults: { [operator]: [value] },
    })),
    (value) => ({ vault: { $not: { $gt: value } } }),
    (value) => ({ vaults: { $elemMatch: { $gt: value } } }),
    (value) => ({ vaults: { $not: { $elemMatch: { $lt: value } } } }),
  ];
  for (const condition of conditions) {
    for (const value of [{ label: "x" }, { code: "x" }, {}, null]) {
      const filter = condition(value);
      await t.step(JSON.stringify(filter), () => {
        assert(/vault|locker/.test(String(refusal(filter).field)));
      });
    }
  }
});

Deno.test("compileFilter() lets the open parts of an object with a secret be filtered", () => {
  const is = { $eq: "x" };
  const filter = { "vault.label": is, vaults: { $elemMatch: { label: is }, $size: 1 } };

  assertEquals(compile(filter), filter);
});

Deno.test("compileFilter() counts depth, conditions, lists and expressions up to their caps", () => {
  const limits = completeQueryLimits({ maxDepth: 4, maxClauses: 3, maxList: 2, maxRegex: 5 });
  const within = [
    nest(4),
    { $or: [{ year: { $gt: 1 } }] },
    { $or: [{ $or: [{ $or: [{}] }] }] },
    { year: 1, name: "a", seen: true },
    { year: { $in: [1, 2] } },
    { tags: ["a", "b"] },
    { name: { $regex: "aaaaa" } },
    { free: [[1]] },
  ];

  for (const filter of within) compile(filter, limits);
});

Deno.test("compileFilter() refuses what is over a cap", async (t) => {
  const limits = completeQueryLimits({ maxDepth: 4, maxClauses: 5, maxList: 2, maxRegex: 5 });
  const over: object[] = [
    nest(5),
    { $or: [{ $nor: [{ parts: { $elemMatch: { size: { $gt: 1 } } } }] }] },
    { name: { $not: { $not: { $not: { $not: { $eq: 1 } } } } } },
    { free: { a: { b: { c: { d: 1 } } } } },
    { free: [[[[[1]]]]] },
    { free: { $elemMatch: { a: { $elemMatch: { b: { $elemMatch: { c: 1 } } } } } } },
    { "free.a": 1, "free.b": 1, "free.c": 1, "free.d": 1, "free.e": 1, "free.f": 1 },
    { year: { $gt: 1, $lt: 2, $ne: 3, $gte: 4, $lte: 5 } },
    { $or: [{ year: 1, name: "a" }, { year: 2, name: "b", seen: true }] },
    { year: { $in: [1, 2, 3] } },
    { tags: ["a", "b", "c"] },
    { tags: { $all: ["a", "b", "c"] } },
    { $or: [{}, {}, {}] },
    { name: { $regex: "aaaaaa" } },
    { name: { $type: ["string", "int", "long"] } },
    { free: { a: [1, 2, 3] } },
    { free: { $geoWithin: { $polygon: [[0, 0], [1, 1], [2, 2]] } } },
    { free: { $geoWithin: { $geometry: { type: "Polygon", coordinates: [[[[[[1]]]]]] } } } },
  ];
  for (const filter of over) {
    await t.step(JSON.stringify(filter), () => void refusal(filter, limits));
  }
});

Deno.test("compileFilter() has the documented caps by default", () => {
  compile(nest(20));
  compile({ $and: Array.from({ length: 199 }, () => ({ year: 1 })) });
  compile({ year: { $in: Array.from({ length: 1000 }, () => 1) } });
  compile({ name: { $regex: "a".repeat(200) } });

  refusal(nest(21));
  refusal({ $and: Array.from({ length: 200 }, () => ({ year: 1 })) });
  refusal({ year: { $in: Array.from({ length: 1001 }, () => 1) } });
  refusal({ name: { $regex: "a".repeat(201) } });
});

Deno.test("compileFilter() survives a filter that is nested thousands deep", () => {
  const deep = [
    `{"$and":[`.repeat(5000) + "{}" + "]}".repeat(5000),
    `{"free":` + "[".repeat(50_000) + "]".repeat(50_000) + "}",
    `{"free":` + `{"a":`.repeat(50_000) + "1" + "}".repeat(50_000) + "}",
    `{"name":` + `{"$not":`.repeat(50_000) + "1" + "}".repeat(50_000) + "}",
    `{"free":{"$geoWithin":` + "[".repeat(50_000) + "]".repeat(50_000) + "}}",
  ];

  for (const text of deep) refusal(JSON.parse(text));
});

import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { castFilter } from "../../filter/cast_filter.ts";
import { isClause, isCompiled } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { sortValues } from "../../filter/order.ts";
import { seek } from "./seek.ts";

const _id = new mongoose.Types.ObjectId("0123456789abcdef01234567");

const Typed = mongoose.model(
  "SeekTyped",
  new mongoose.Schema({
    year: Number,
    name: { type: String, lowercase: true, set: (name: unknown) => `${name}!` },
    at: Date,
  }, { autoCreate: false, autoIndex: false }),
) as unknown as mongoose.Model<unknown>;

Deno.test("seek() has one condition for the order of identifiers", () => {
  const compared = { $gt: ["$_id", { $literal: _id }] };
  assertEquals(seek({ _id: 1 }, { _id }), { $and: [{ $expr: { $and: [compared] } }] });
});

Deno.test("seek() has one alternative for each key", () => {
  const order = { year: 1, name: -1, _id: 1 } as const;
  assertEquals((seek(order, { year: 5, name: "a", _id }).$or as unknown[]).length, 3);
});

Deno.test("seek() has no alternatives behind a key that is tied by null", () => {
  const order = { year: 1, name: -1, at: 1, _id: 1 } as const;
  assertEquals((seek(order, { year: null, name: "a", at: null, _id }).$or as unknown[]).length, 2);
  const last = { year: 1, _id: 1 } as const;
  assertEquals((seek(last, { year: null, _id }).$or as unknown[]).length, 2);
});

/** Gives the conditions of a filter that are not clauses. */
function leaves(filter: Filter): [string, unknown][] {
  return Object.entries(filter).flatMap(([key, value]) =>
    isClause(key) ? (value as Filter[]).flatMap(leaves) : [[key, value] as [string, unknown]]
  );
}

Deno.test("seek() gives conditions that are compiled, and that are not cast", () => {
  const order = { year: 1, name: -1, at: 1, _id: 1 } as const;
  for (const misfit of ["x", null, /x/, [1, "y"], [], true, new Date(0), NaN, { a: 1 }, [[/x/]]]) {
    const filter = seek(order, { year: misfit, name: misfit, at: misfit, _id });
    assert(leaves(filter).every(([, value]) => isCompiled(value)));
    const sent = structuredText(filter);
    assertEquals(structuredText(castFilter(Typed, filter)), sent);
  }
});

/** Writes a filter as the driver would send it. */
function structuredText(filter: Filter): string {
  const { BSON } = mongoose.mongo;
  return BSON.EJSON.stringify(BSON.deserialize(BSON.serialize(filter)));
}

Deno.test("seek() leaves the order and the values as they are", () => {
  const order = Object.freeze({ year: 1, _id: 1 } as const);
  const values = Object.freeze({ year: Object.freeze([1, 2]), _id });
  seek(order, values);
  assertEquals(values, { year: [1, 2], _id });
});

Deno.test("sortValues() reads the values of paths; what is missing is null", () => {
  const stored = { _id, year: 5, inner: { owner: "x" }, none: undefined };
  const paths = ["inner.owner", "inner.gone", "year.part", "none", "_id"];
  assertEquals(sortValues(stored, paths), {
    "inner.owner": "x",
    "inner.gone": null,
    "year.part": null,
    none: null,
    _id,
  });
});

Deno.test("sortValues() reads all values of a list of objects, null for what is no object", () => {
  const stored = { inner: [{ owner: 1 }, { owner: [2, 3] }, {}, 5, [{ owner: 4 }]] };
  assertEquals(sortValues(stored, ["inner.owner"]), {
    "inner.owner": [1, [2, 3], null, null, [4]],
  });
});

import { assertEquals } from "@std/assert";
import { declareIndex } from "./read_indexes.ts";

const text = { key: { _fts: "text", _ftsx: 1 }, "default_language": "english" };
const collation = { locale: "de", strength: 2, version: "57.1" };

/** Indexes as MongoDB lists them, and the arguments of `schema.index()` or the reason why there are none. */
const CASES: readonly (readonly [Record<string, unknown>, unknown, unknown?])[] = [
  [{ key: { a: 1 }, name: "a_1", v: 2, background: true, unique: false }, { a: 1 }, {}],
  [{ key: { a: 1, "b.c": -1 }, name: "a_1_b.c_-1", unique: true }, { a: 1, "b.c": -1 }, {
    unique: true,
  }],
  [{ key: { a: 1 }, name: "own" }, { a: 1 }, { name: "own" }],
  [{ key: { a: 1 }, name: "a_1", expireAfterSeconds: 60 }, { a: 1 }, { expireAfterSeconds: 60 }],
  [{ key: { a: 1 }, name: "a_1", expireAfterSeconds: NaN }, "its time to live"],
  [{ key: { a: 1 }, name: "a_1", expireAfterSeconds: 2 ** 31 }, "its time to live"],
  [{ key: { a: 1 }, name: "a_1", partialFilterExpression: { b: { $gt: 1 } } }, { a: 1 }, {
    partialFilterExpression: { b: { $gt: 1 } },
  }],
  [
    { key: { a: 1 }, name: "a_1", partialFilterExpression: { $and: [{ b: new Date() }] } },
    "values in its filter that JSON does not have",
  ],
  [{ key: { a: 1 }, name: "a_1", collation }, { a: 1 }, {
    collation: { locale: "de", strength: 2 },
  }],
  [{ ...text, name: "t_text", weights: { t: 1 } }, { t: "text" }, {}],
  [{ ...text, name: "own", weights: { t: 1, u: 5 } }, { t: "text", u: "text" }, {
    weights: { t: 1, u: 5 },
    name: "own",
  }],
  [
    { key: { a: 1, ...text.key, b: 1 }, name: "a_1_t_text_b_1", weights: { t: 1 } },
    { a: 1, t: "text", b: 1 },
    {},
  ],
  [{ ...text, name: "$**_text", weights: { "$**": 1 } }, { "$**": "text" }, {}],
  [{ key: { "a.$**": 1 }, name: "a.$**_1" }, { "a.$**": 1 }, {}],
  [{ key: { a: "2d" }, name: "a_2d", bits: 26, min: -90, max: 180 }, { a: "2d" }, { min: -90 }],
  [{ key: { a: "columnstore" }, name: "a_columnstore" }, 'the kind "columnstore"'],
  [{ key: { a: 2 }, name: "a_2" }, "the kind 2"],
];

Deno.test("declareIndex() returns the arguments of schema.index(), or the reason why there are none", () => {
  for (const [stored, keys, options] of CASES) {
    const declared = declareIndex(stored as Parameters<typeof declareIndex>[0], undefined);
    assertEquals<unknown>(declared, options === undefined ? keys : { keys, options });
  }
});

Deno.test("declareIndex() names the collation of an index whose collection has another one", () => {
  const declared = declareIndex({ key: { a: 1 }, name: "a_1" }, collation);
  assertEquals(declared, { keys: { a: 1 }, options: { collation: { locale: "simple" } } });
});
